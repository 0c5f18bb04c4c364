// The server of `mayfly view`: the page over HTTP, and one WebSocket per open page.
//
// The thread of a page has a mailbox: it leaves the page's message there, waits until the thread of
// the physics has answered it between two steps, and sends the answer. So the world is touched by
// one thread alone, and a slow page delays nobody: the physics only copies a picture into its
// mailbox.
#pragma once

#include "app.h"
#include "base/text.h"

#define MF_VIEW_PAGES 12         // [1] most that are open at the same time
#define MF_VIEW_MESSAGE 4096u    // [byte] longest message of a page
#define MF_VIEW_NOTE 800         // [byte] of a line of text
#define MF_VIEW_DROP 16777216u   // [byte] largest file that may be dropped on a page alone
#define MF_VIEW_DROPS 268435456u // [byte] most of several files

typedef struct mf_ViewServer mf_ViewServer;

typedef struct mf_ViewServerConfig {
    const char *command, *port_option,
        *host_option;        // what messages say: "view", "--port", "--host"
    const char *host;        // address to bind
    uint16_t port;           // 0: any that is free
    const char *page;        // HTML, borrowed
    size_t page_size;        // [byte]
    const char *description; // of the world, sent to each page first; NULL: no world, only the page
    size_t answer_capacity;  // [byte] of the longest answer
} mf_ViewServerConfig;

typedef struct mf_ViewMail {
    char message[MF_VIEW_MESSAGE]; // terminated by 0
    size_t size;                   // [byte]
    double asked;                  // [s] of the clock
    double last_frame;             // [s] of the clock, when the page got its last frame
    uint8_t *answer;               // answer_capacity bytes
    size_t answer_size;            // [byte] 0: nothing is sent
    bool binary;                   // the answer is no text
    bool done;                     // set when it is answered
    bool holds;                    // a robot, by a push; set with the answer
} mf_ViewMail;

// What was dropped on a page.
typedef struct mf_ViewDrop {
    char name[512];   // of the file to load
    bool several;     // the data is a package of files (io/package.h), of which it is one
    const char *data; // borrowed until mf_view_server_loaded
    size_t size;      // [byte]
} mf_ViewDrop;

// Starts to listen. MF_BUSY: the port is taken. MF_BAD_ARGUMENT: no address of this machine. Each
// with a line that says what to do.
mf_Status mf_view_server_start(mf_Context *context, const mf_ViewServerConfig *config,
                               mf_ViewServer **out, mf_Error *error);
// Where the page is: "http://127.0.0.1:8765/", with a token when the address is not the loopback's.
const char *mf_view_server_address(const mf_ViewServer *server);

// Calls `answer` for each message that waits; it sets `done`, or leaves it for the next call. From
// one thread, which owns the world.
void mf_view_server_serve(mf_ViewServer *server, void (*answer)(mf_ViewMail *mail, void *user),
                          void *user);
// Waits until a message has come, or for so long [s].
void mf_view_server_wait(mf_ViewServer *server, double seconds);
uint32_t mf_view_server_pages(mf_ViewServer *server); // [1] open now

// Whether a file has been dropped; each is followed by mf_view_server_loaded with one line: what is
// to be said of it, or why it could not be loaded. Only where the server is this machine's own.
bool mf_view_server_dropped(mf_ViewServer *server, mf_ViewDrop *out);
void mf_view_server_loaded(mf_ViewServer *server, bool loaded, const char *line);
// Another world: what pages got before is closed, and they come again. Takes both texts, which are
// empty then.
mf_Status mf_view_server_change(mf_ViewServer *server, mf_Text *page, mf_Text *description,
                                size_t answer_capacity, mf_Error *error);

void mf_view_server_stop(mf_ViewServer *server); // NULL is allowed
