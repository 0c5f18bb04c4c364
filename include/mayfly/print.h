// Mayfly: a truss as parts to print, with joints that snap together
// (docs/how_to/evolve_a_body.md).
#pragma once

#include <mayfly/truss.h>

typedef struct mf_PrintConfig {
    uint32_t struct_size;   // [byte] set by mf_print_config()
    double scale;           // [1] > 0 of the truss; joints and actuators keep their size; default 1
    double ball_diameter;   // [m] of a joint's ball; default 0.008
    double neck_diameter;   // [m] of the bar behind the ball; default 0.004
    double neck_length;     // [m] of the free neck outside of the socket; default 0.003
    double clearance;       // [m] > 0 between ball and socket; default 0.0003
    double wall;            // [m] > 0 least thickness of sockets and seats; default 0.0016
    double opening;         // [rad] of a socket, from its axis to its edge; default 1.05 (60
                            // degrees). Below pi/2 it holds the ball
    double body_diameter;   // [m] of an actuator's round body; default 0.012
    double body_length;     // [m] default 0.03
    double rod_diameter;    // [m] of its rod; default 0.004
    double rod_length;      // [m] of the rod outside of the body at its shortest; default 0.01
    double stroke;          // [m] default 0.02
    double seat_depth;      // [m] of body and rod in their seats; default 0.008
    double seat_clearance;  // [m] > 0 about body and rod; default 0.0002
    double build_volume[3]; // [m] of the printer; a larger part is refused; default 0.2 each
    uint32_t segments;      // [1] 12 .. 128 of a circle; default 48
} mf_PrintConfig;
// The defaults of mf_PrintConfig: every configuration starts from them.
MF_API mf_PrintConfig mf_print_config(void);

typedef enum mf_PrintKind {
    MF_PRINT_BAR,
    MF_PRINT_BODY_SEAT, // the half of an actuated bar that holds the actuator's body
    MF_PRINT_ROD_SEAT   // the half that holds its rod
} mf_PrintKind;

// A closed surface: each edge belongs to two triangles, corners are counterclockwise from outside.
typedef struct mf_PrintSolid {
    double *vertices;        // [m] 3 each
    uint32_t *triangles;     // [1] 3 vertices each
    uint32_t vertex_count;   // [1]
    uint32_t triangle_count; // [1]
} mf_PrintSolid;

typedef struct mf_PrintPart {
    char name[32]; // "bar_3", "actuator_3_body", "actuator_3_rod": its file without the ending
    mf_PrintKind kind;
    uint32_t bar;        // [1] of the truss
    uint32_t same_as;    // [1] the first part of this shape; its own number if it is the first
    uint32_t sockets;    // [1] at the hubs that it carries
    double length;       // [m] of its box along the bar
    double diameter;     // [m] of the bar or seat
    double volume;       // [m^3] of the solid
    double mass;         // [kg] filled with the truss's material
    double box[3];       // [m] extent of the solid, the bar along x
    mf_PrintSolid solid; // the bar along x, on the plane z = 0, in the quadrant x, y >= 0
} mf_PrintPart;

typedef struct mf_Print {
    mf_Context *context;
    uint32_t part_count, actuator_count; // [1]
    mf_PrintPart *parts;
    mf_PrintSolid assembly; // all parts and the actuators in their positions, in the truss's frame
    double tilt;            // [rad] by which a bar can turn away from its position in a socket
    char material[48];      // its name, or "1234 kg/m^3"
    double material_mass;   // [kg] of all parts
    mf_PrintConfig config;
} mf_Print;

// The parts of a truss that mf_truss_check accepts. Where bars meet, one of them carries a hub with
// sockets, the others have balls. MF_UNSUPPORTED names the bar that is too short for its joints or
// its actuator, or the part that is too large, and what would fit. The caller destroys *out.
MF_API mf_Status mf_print_create(mf_Context *context, const mf_Truss *truss,
                                 const mf_PrintConfig *config, mf_Print **out, mf_Error *error);
MF_API void mf_print_destroy(mf_Print *print); // NULL is fine

// Writes into a folder that exists, in millimeters: NAME.stl (binary) of every different part,
// assembly.stl, and the bill of materials as parts.csv and parts.json.
MF_API mf_Status mf_print_save_stl(const mf_Print *print, const char *folder, mf_Error *error);
// Writes one 3MF file with every part, each as often as it is needed.
MF_API mf_Status mf_print_save_3mf(const mf_Print *print, const char *path, mf_Error *error);
