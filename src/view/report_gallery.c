// Machines beside each other: the best alive, and the line of descent of the champion in pictures.
// All pictures of a row have the same scale.
#include "view/report_machine.h"

#define CARD_WIDTH 240.0  // [px]
#define CARD_HEIGHT 190.0 // [px] at most
#define FOOT 24.0         // [px] below the machines

typedef struct Shelf { // what the pictures of a row have in common
    double scale;      // [px/m] at which the largest one fits
    double height;     // [px]
} Shelf;

static mf_Box box_of(const mf_MachinePose *pose, mf_MachineView *view) {
    mf_Box box = mf_box_none();
    *view = mf_view_slanted(pose);
    mf_box_add_machine(&box, view, pose);
    return box;
}

static Shelf shelf_of(const mf_ReportKin *kin, uint32_t count) {
    Shelf shelf = {.scale = 1e6};
    mf_MachineView view;
    double tallest = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        const mf_MachinePose pose = mf_report_pose(&kin[i]);
        const mf_Box box = box_of(&pose, &view);
        mf_view_fit(&view, &box, CARD_WIDTH - 16.0, CARD_HEIGHT - FOOT - 10.0, shelf.scale);
        shelf.scale = view.scale;
        const double tall = box.upper[1] - box.lower[1];
        tallest = tall > tallest ? tall : tallest;
    }
    shelf.height = FOOT + 10.0 + shelf.scale * tallest;
    return shelf;
}

static void put_picture(mf_Text *text, const mf_ReportKin *kin, const Shelf *shelf, bool first) {
    const mf_MachinePose pose = mf_report_pose(kin);
    mf_MachineView view;
    const mf_Box box = box_of(&pose, &view);
    mf_view_fit(&view, &box, CARD_WIDTH, shelf->height, shelf->scale);
    view.y = shelf->height - FOOT + view.scale * box.lower[1]; // all stand at the same height
    mf_picture_open(text, CARD_WIDTH, shelf->height, "fit map", "A machine at rest");
    mf_picture_shadow(text, &view, &pose);
    mf_picture_machine(text, &view, &pose, NULL);
    if (first)
        mf_picture_scale(text, view.scale, 90.0, 8.0, shelf->height - 5.0);
    mf_text_put(text, "</svg>\n");
}

static uint32_t useful_neurons(const mf_Machine *machine) {
    bool useful[MF_MACHINE_NEURONS];
    uint32_t count = 0;
    mf_machine_useful(machine, useful);
    for (uint32_t n = 0; n < machine->neuron_count; n++)
        count += useful[n];
    return count;
}

static void put_count(mf_Text *text, const char *before, uint32_t count, const char *name) {
    mf_text_format(text, "%s%u %s%s", before, count, name, count == 1 ? "" : "s");
}

static void put_card(mf_Text *text, const mf_ReportKin *kin, const Shelf *shelf, uint32_t number) {
    const mf_MachineResult *result = &kin->result;
    mf_text_put(text, "<figure>");
    put_picture(text, kin, shelf, number == 0);
    mf_text_put(text, "<figcaption>");
    if (kin->generation > 0)
        mf_text_format(text, "<b>generation %u</b><br/>", kin->generation);
    else
        mf_text_format(text, "<b>%u.</b> ", number + 1);
    mf_text_format(text, "<b>%s cm</b>", mf_text_measure(100.0 * result->distance).text);
    if (result->length > 0.0) {
        mf_text_format(text, ", %s body lengths",
                       mf_text_measure(result->distance / result->length).text);
    }
    put_count(text, "<br/>", kin->machine.bar_count, "bar");
    put_count(text, ", ", kin->machine.actuator_count, "actuator");
    put_count(text, ", ", useful_neurons(&kin->machine), "neuron");
    mf_text_format(text, "<br/>individual %llu</figcaption></figure>\n",
                   (unsigned long long)kin->id);
}

static void put_cards(mf_Text *text, const mf_ReportKin *kin, uint32_t count) {
    const Shelf shelf = shelf_of(kin, count);
    mf_text_put(text, "<div class=\"cards\">\n");
    for (uint32_t i = 0; i < count; i++)
        put_card(text, &kin[i], &shelf, i);
    mf_text_put(text, "</div>\n");
}

void mf_report_gallery(mf_Text *text, const mf_ReportData *data) {
    const mf_ReportMachine *all = data->machine;
    if (all->alive > 0) {
        mf_report_open(text, "gallery", "The best machines alive");
        mf_text_format(
            text,
            "<p>The best of the last generation by their fitness, no two with %s, at rest "
            "and at one scale. <code>mayfly replay RUN --individual N</code> shows any of "
            "them.</p>\n",
            all->plans ? "the same plan of bars and actuators" : "the same body and network");
        put_cards(text, all->kin + 1, all->alive);
        mf_report_close(text);
    }
    if (all->ancestors > 1) {
        mf_report_open(text, "descent", "The champion\xe2\x80\x99s line of descent");
        mf_text_put(text, "<p>From its first ancestor with a body to the champion, the last one: "
                          "the first that reached each share of the champion\xe2\x80\x99s fitness, "
                          "and some between.</p>\n");
        put_cards(text, all->kin + 1 + all->alive, all->ancestors);
        mf_report_close(text);
    }
}
