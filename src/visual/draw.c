// Drawings and controls of a world, kept beside its state. Invariants: a slot in use has a layer or
// a control; every change raises the serial number and gives it to its slot, so that whoever has
// seen one number needs only the slots with larger ones; the bytes of all layers are counted.
#include "visual/draw.h"
#include "base/floats.h"
#include "base/memory.h"
#include "math/scalar.h"
#include "model/points.h"
#include "visual/visual.h"
#include "world/attach.h"

#include <math.h>
#include <string.h>

#define ORANGE 0xe8590cffu
#define POINT_SIZE 0.02 // [m]
#define LETTER_SIZE 0.1 // [m]
#define FARTHEST 1e9    // [m], [1] of numbers
enum { SLOTS = 2 * MF_DRAW_LAYERS, POSE = 7, TEXT_MOST = 256 };

static const char kept_name[] = "drawings";

typedef struct Slot {
    uint64_t serial;
    double time; // [s]
    uint32_t owner;
    uint32_t kind; // of the record
    uint32_t color;
    float thickness;
    const mf_Group *group;
    uint32_t robot, link;
    float *numbers; // of a layer; NULL: none
    uint32_t count;
    char name[MF_DRAW_NAME];
    char text[TEXT_MOST]; // of a control: its unit
    uint32_t number;      // of a control
    bool moved;           // its owner does not know yet
    double low, high, step, value;
} Slot;

typedef struct Drawings {
    mf_Context *context;
    uint64_t serial;
    size_t bytes; // of numbers
    uint32_t layers, moved;
    Slot slots[SLOTS];
} Drawings;

static Drawings *drawings_of(const mf_World *world) {
    return mf_world_kept(world, kept_name);
}

static void destroy(mf_Context *context, void *user) {
    Drawings *all = user;
    for (int i = 0; i < SLOTS; i++)
        mf_release(context, all->slots[i].numbers);
    mf_release(context, all);
}

static mf_Status find_drawings(mf_World *world, Drawings **out, mf_Error *error) {
    *out = drawings_of(world);
    if (*out != NULL)
        return MF_OK;
    Drawings *all = mf_allocate(mf_world_context(world), 1, sizeof *all);
    MF_NEED_MEMORY(all != NULL, error, "draw");
    all->context = mf_world_context(world);
    for (int i = 0; i < SLOTS; i++)
        all->slots[i].kind = MF_DRAW_CLEARED;
    mf_Status status = mf_world_keep(world, kept_name, all, destroy, error);
    if (status != MF_OK)
        mf_release(all->context, all);
    else
        *out = all;
    return status;
}

// ---- slots -------------------------------------------------------------------------------------

static bool is_layer(const Slot *slot) {
    return slot->kind < MF_DRAW_KINDS;
}

static bool is_control(const Slot *slot) {
    return slot->kind >= MF_DRAW_CONTROL;
}

static void mark(const mf_World *world, Drawings *all, Slot *slot) {
    slot->serial = ++all->serial;
    slot->time = mf_time_to_seconds(mf_world_time(world));
}

static void clear(const mf_World *world, Drawings *all, Slot *slot) {
    if (is_layer(slot)) {
        all->layers--;
        all->bytes -= slot->count * sizeof *slot->numbers;
    }
    all->moved -= slot->moved;
    mf_release(all->context, slot->numbers);
    *slot = (Slot){.kind = MF_DRAW_CLEARED};
    mark(world, all, slot);
}

static Slot *find_layer(Drawings *all, uint32_t owner, const char *name) {
    for (Slot *slot = all->slots; slot < all->slots + SLOTS; slot++)
        if (is_layer(slot) && slot->owner == owner && strcmp(slot->name, name) == 0)
            return slot;
    return NULL;
}

static Slot *find_control(Drawings *all, uint32_t owner, uint32_t number) {
    for (Slot *slot = all->slots; slot < all->slots + SLOTS; slot++)
        if (is_control(slot) && slot->owner == owner && slot->number == number)
            return slot;
    return NULL;
}

static Slot *free_slot(Drawings *all) {
    for (Slot *slot = all->slots; slot < all->slots + SLOTS; slot++)
        if (slot->kind == MF_DRAW_CLEARED)
            return slot;
    return NULL;
}

// ---- layers ------------------------------------------------------------------------------------

static mf_Status check_name(const char *name, const char *what, mf_Error *error) {
    MF_NEED(name != NULL && name[0] != '\0' && strlen(name) < MF_DRAW_NAME, error,
            "draw: expected a name of the %s, of 1 .. %d bytes", what, MF_DRAW_NAME - 1);
    return MF_OK;
}

static bool all_finite(const mf_Drawing *drawing) {
    for (uint32_t i = 0; i < drawing->count; i++) {
        const double x = (double)drawing->numbers[i];
        if (!(fabs(x) < FARTHEST) && !(drawing->kind == MF_DRAW_LINES && isnan(x)))
            return false;
    }
    return true;
}

static mf_Status check_count(const char *layer, const mf_Drawing *drawing, mf_Error *error) {
    static const char *const shapes[] = {"3 for each point", "3 for each point", "6 for each arrow",
                                         "3"};
    static const uint32_t units[] = {3, 3, 6, 3};
    const uint32_t count = drawing->count;
    const bool fits =
        drawing->kind == MF_DRAW_TEXT ? count == 3 : count % units[drawing->kind] == 0;
    MF_NEED(fits, error, "draw: layer %s: expected numbers, %s, found %u", layer,
            shapes[drawing->kind], count);
    return MF_OK;
}

static mf_Status check_ghost(const char *layer, const mf_Drawing *drawing, mf_Error *error) {
    const mf_Group *group = drawing->group;
    MF_NEED(group != NULL, error, "draw: layer %s: expected the group that the ghost is like",
            layer);
    const mf_Model *model = mf_group_model(group);
    const mf_Visual visual = mf_visual_of((mf_Group *)(uintptr_t)group);
    MF_CHECK(visual.kind == MF_VISUAL_PARTS && model->link_count > 0, error, MF_UNSUPPORTED,
             "draw: layer %s: group %s has no robots of links", layer,
             mf_group_config_of(group)->name);
    const uint32_t each = POSE + model->joint_count;
    MF_NEED(drawing->count == POSE || drawing->count == each, error,
            "draw: layer %s: expected %d numbers of a ghost's pose, or %u with its joints, found "
            "%u",
            layer, POSE, each, drawing->count);
    MF_CHECK(model->link_count * POSE <= MF_DRAW_NUMBERS, error, MF_LIMIT,
             "draw: layer %s: a ghost of %u links", layer, model->link_count);
    double length = 0.0;
    for (int c = 3; c < POSE; c++)
        length += (double)(drawing->numbers[c] * drawing->numbers[c]);
    MF_NEED(fabs(length - 1.0) < 0.02, error,
            "draw: layer %s: expected an orientation (w, x, y, z) of length 1", layer);
    return MF_OK;
}

static mf_Status check_carrier(const char *layer, const mf_Drawing *drawing, mf_Error *error) {
    if (drawing->group == NULL)
        return MF_OK;
    const uint32_t robots = mf_group_count(drawing->group),
                   links = mf_group_model(drawing->group)->link_count;
    MF_CHECK(drawing->robot < robots && drawing->link < links, error, MF_NOT_FOUND,
             "draw: layer %s: group %s has %u robots of %u links, found robot %u, link %u", layer,
             mf_group_config_of(drawing->group)->name, robots, links, drawing->robot,
             drawing->link);
    return MF_OK;
}

static mf_Status check(const mf_World *world, const char *layer, const mf_Drawing *drawing,
                       mf_Error *error) {
    MF_NEED(world != NULL && drawing != NULL, error, "draw: world or drawing is NULL");
    MF_TRY(check_name(layer, "layer", error));
    MF_NEED((unsigned)drawing->kind < MF_DRAW_KINDS, error, "draw: layer %s: no such kind", layer);
    MF_CHECK(drawing->count <= MF_DRAW_NUMBERS, error, MF_LIMIT,
             "draw: layer %s: expected at most %d numbers, found %u", layer, MF_DRAW_NUMBERS,
             drawing->count);
    MF_NEED(drawing->count == 0 || drawing->numbers != NULL, error,
            "draw: layer %s: numbers is NULL", layer);
    MF_NEED(drawing->group == NULL || mf_group_world(drawing->group) == world, error,
            "draw: layer %s: the group is one of another world", layer);
    MF_NEED(drawing->size >= 0.0 && drawing->size < FARTHEST, error,
            "draw: layer %s: expected a size of at least 0 m", layer);
    MF_NEED(all_finite(drawing), error, "draw: layer %s: expected finite numbers", layer);
    MF_NEED(drawing->kind != MF_DRAW_TEXT ||
                (drawing->text != NULL && strlen(drawing->text) < TEXT_MOST),
            error, "draw: layer %s: expected a text of at most %d bytes", layer, TEXT_MOST - 1);
    if (drawing->kind == MF_DRAW_GHOST)
        return check_ghost(layer, drawing, error);
    MF_TRY(check_count(layer, drawing, error));
    return check_carrier(layer, drawing, error);
}

// The poses of all links of a ghost in the world.
static mf_Status pose_links(mf_Context *context, const mf_Drawing *drawing, float *out,
                            mf_Error *error) {
    const mf_Model *model = mf_group_model(drawing->group);
    const size_t links = model->link_count, joints = model->joint_count;
    double *memory = mf_allocate(context, POSE * links + joints + 1, sizeof *memory), base[POSE];
    MF_NEED_MEMORY(memory != NULL, error, "draw");
    double(*position)[3] = (void *)memory, (*rotation)[4] = (void *)(memory + 3 * links);
    double *angle = memory + POSE * links;
    for (size_t j = 0; j < joints; j++)
        angle[j] =
            drawing->count > POSE ? (double)drawing->numbers[POSE + j] : model->start_angle[j];
    for (int c = 0; c < POSE; c++)
        base[c] = (double)drawing->numbers[c];
    mf_quat_normalize(base + 3);
    mf_model_pose(model, angle, position, rotation);
    for (size_t l = 0; l < links; l++, out += POSE) {
        double at[3], axes[4];
        mf_quat_rotate(at, base + 3, position[l]);
        mf_vec3_add(at, at, base);
        mf_quat_multiply(axes, base + 3, rotation[l]);
        for (int c = 0; c < POSE; c++)
            out[c] = (float)(c < 3 ? at[c] : axes[c - 3]);
    }
    mf_release(context, memory);
    return MF_OK;
}

static mf_Status take_numbers(Drawings *all, const Slot *old, const mf_Drawing *drawing, Slot *made,
                              mf_Error *error) {
    const bool ghost = drawing->kind == MF_DRAW_GHOST;
    const size_t before = old != NULL ? old->count * sizeof *old->numbers : 0;
    made->count = ghost ? mf_group_model(drawing->group)->link_count * POSE : drawing->count;
    const size_t bytes = made->count * sizeof *made->numbers;
    MF_CHECK(all->bytes - before + bytes <= MF_DRAW_BYTES, error, MF_LIMIT,
             "draw: layer %s: the world has %zu bytes of drawings, expected at most %d: clear some",
             made->name, all->bytes - before + bytes, MF_DRAW_BYTES);
    MF_CHECK(old != NULL || all->layers < MF_DRAW_LAYERS, error, MF_LIMIT,
             "draw: layer %s: the world has %d layers already: clear some", made->name,
             MF_DRAW_LAYERS);
    if (made->count == 0)
        return MF_OK;
    made->numbers = mf_allocate(all->context, made->count, sizeof *made->numbers);
    MF_NEED_MEMORY(made->numbers != NULL, error, "draw");
    if (ghost)
        return pose_links(all->context, drawing, made->numbers, error);
    memcpy(made->numbers, drawing->numbers, bytes);
    return MF_OK;
}

mf_Status mf_draw_as(mf_World *world, uint32_t owner, const char *layer, const mf_Drawing *drawing,
                     mf_Error *error) {
    MF_DEFAULT_FLOATS;
    Drawings *all;
    MF_TRY(check(world, layer, drawing, error));
    MF_TRY(find_drawings(world, &all, error));
    Slot *slot = find_layer(all, owner, layer);
    const bool letters = drawing->kind == MF_DRAW_TEXT;
    const double size = letters ? LETTER_SIZE : POINT_SIZE;
    Slot made = {.owner = owner,
                 .kind = (uint32_t)drawing->kind,
                 .color = drawing->color != 0 ? drawing->color : ORANGE,
                 .thickness = (float)(drawing->size > 0.0 ? drawing->size : size),
                 .group = drawing->group,
                 .robot = drawing->robot,
                 .link = drawing->link};
    memcpy(made.name, layer, strlen(layer));
    if (letters)
        memcpy(made.text, drawing->text, strlen(drawing->text));
    mf_Status status = take_numbers(all, slot, drawing, &made, error);
    if (status == MF_OK && slot == NULL && (slot = free_slot(all)) == NULL)
        status = mf_fail(error, MF_LIMIT, "draw: layer %s: too many layers and controls", layer);
    if (status != MF_OK) {
        mf_release(all->context, made.numbers);
        return status;
    }
    if (is_layer(slot))
        all->bytes -= slot->count * sizeof *slot->numbers;
    else
        all->layers++;
    mf_release(all->context, slot->numbers);
    all->bytes += made.count * sizeof *made.numbers;
    *slot = made;
    mark(world, all, slot);
    return MF_OK;
}

void mf_draw_clear_as(mf_World *world, uint32_t owner, const char *layer) {
    Drawings *all = world != NULL ? drawings_of(world) : NULL;
    for (int i = 0; all != NULL && i < SLOTS; i++) {
        Slot *slot = &all->slots[i];
        if (is_layer(slot) && slot->owner == owner &&
            (layer == NULL || strcmp(slot->name, layer) == 0))
            clear(world, all, slot);
    }
}

mf_Status mf_draw(mf_World *world, const char *layer, const mf_Drawing *drawing, mf_Error *error) {
    return mf_draw_as(world, MF_DRAW_OWN, layer, drawing, error);
}

void mf_draw_clear(mf_World *world, const char *layer) {
    mf_draw_clear_as(world, MF_DRAW_OWN, layer);
}

// ---- controls ----------------------------------------------------------------------------------

static mf_Status check_control(uint32_t number, const mf_Control *control, mf_Error *error) {
    MF_CHECK(number < MF_DRAW_CONTROLS, error, MF_LIMIT, "control: expected a number 0 .. %d",
             MF_DRAW_CONTROLS - 1);
    if (control == NULL)
        return MF_OK;
    MF_TRY(check_name(control->name, "control", error));
    MF_NEED((unsigned)control->kind < MF_CONTROL_KINDS, error, "control %s: no such kind",
            control->name);
    MF_NEED(control->unit == NULL || strlen(control->unit) < MF_DRAW_NAME, error,
            "control %s: expected a unit of less than %d bytes", control->name, MF_DRAW_NAME);
    if (control->kind != MF_CONTROL_SLIDER)
        return MF_OK;
    MF_NEED(control->low < control->high && fabs(control->low) < FARTHEST &&
                fabs(control->high) < FARTHEST,
            error, "control %s: expected low < high", control->name);
    MF_NEED(control->value >= control->low && control->value <= control->high, error,
            "control %s: expected a value of %g .. %g, found %g", control->name, control->low,
            control->high, control->value);
    MF_NEED(control->step >= 0.0 && control->step <= control->high - control->low, error,
            "control %s: expected a step of 0 .. %g", control->name, control->high - control->low);
    return MF_OK;
}

mf_Status mf_control_as(mf_World *world, uint32_t owner, uint32_t number, const mf_Control *control,
                        mf_Error *error) {
    MF_DEFAULT_FLOATS;
    Drawings *all;
    MF_NEED(world != NULL, error, "control: world is NULL");
    MF_TRY(check_control(number, control, error));
    MF_TRY(find_drawings(world, &all, error));
    Slot *slot = find_control(all, owner, number);
    if (control == NULL) {
        if (slot != NULL)
            clear(world, all, slot);
        return MF_OK;
    }
    slot = slot != NULL ? slot : free_slot(all);
    MF_CHECK(slot != NULL, error, MF_LIMIT, "control %s: too many layers and controls",
             control->name);
    const bool slides = control->kind == MF_CONTROL_SLIDER;
    all->moved -= slot->moved;
    *slot = (Slot){.owner = owner,
                   .kind = MF_DRAW_CONTROL + (uint32_t)control->kind,
                   .number = number,
                   .low = slides ? control->low : 0.0,
                   .high = slides ? control->high : 1.0,
                   .step = slides ? control->step : 0.0,
                   .value = slides ? control->value : (double)(control->value != 0.0)};
    if (control->kind == MF_CONTROL_BUTTON)
        slot->value = 0.0;
    memcpy(slot->name, control->name, strlen(control->name));
    if (control->unit != NULL)
        memcpy(slot->text, control->unit, strlen(control->unit));
    mark(world, all, slot);
    return MF_OK;
}

mf_Status mf_control(mf_World *world, uint32_t number, const mf_Control *control, mf_Error *error) {
    return mf_control_as(world, MF_DRAW_OWN, number, control, error);
}

double mf_control_value_as(const mf_World *world, uint32_t owner, uint32_t number) {
    Drawings *all = world != NULL ? drawings_of(world) : NULL;
    const Slot *slot = all != NULL ? find_control(all, owner, number) : NULL;
    return slot != NULL ? slot->value : (double)NAN;
}

bool mf_control_take(mf_World *world, uint32_t owner, uint32_t *number, double *value,
                     const char **name) {
    Drawings *all = world != NULL ? drawings_of(world) : NULL;
    Slot *found = NULL;
    if (all == NULL || all->moved == 0)
        return false;
    for (Slot *slot = all->slots; slot < all->slots + SLOTS; slot++)
        if (slot->moved && slot->owner == owner && (found == NULL || slot->serial < found->serial))
            found = slot;
    if (found == NULL)
        return false;
    found->moved = false;
    all->moved--;
    *number = found->number;
    *value = found->value;
    if (name != NULL)
        *name = found->name;
    return true;
}

bool mf_control_waits(const mf_World *world) {
    const Drawings *all = drawings_of(world);
    return all != NULL && all->moved > 0;
}

bool mf_control_changed(mf_World *world, uint32_t *number, double *value) {
    return mf_control_take(world, MF_DRAW_OWN, number, value, NULL);
}

bool mf_control_move(mf_World *world, uint32_t slot, double value) {
    Drawings *all = world != NULL ? drawings_of(world) : NULL;
    if (all == NULL || slot >= SLOTS || !is_control(&all->slots[slot]) || !isfinite(value))
        return false;
    Slot *control = &all->slots[slot];
    if (control->kind == MF_DRAW_CONTROL + MF_CONTROL_BUTTON)
        control->value += 1.0;
    else if (control->kind == MF_DRAW_CONTROL + MF_CONTROL_CHECKBOX)
        control->value = value != 0.0;
    else
        control->value = value < control->low    ? control->low
                         : value > control->high ? control->high
                                                 : value;
    all->moved += !control->moved;
    control->moved = true;
    mark(world, all, control);
    return true;
}

// ---- owners and worlds -------------------------------------------------------------------------

void mf_draw_forget(mf_World *world, uint32_t owner) {
    Drawings *all = world != NULL ? drawings_of(world) : NULL;
    for (int i = 0; all != NULL && i < SLOTS; i++)
        if (all->slots[i].kind != MF_DRAW_CLEARED && all->slots[i].owner == owner)
            clear(world, all, &all->slots[i]);
}

// The group with the same number of another world.
static const mf_Group *counterpart(mf_World *from, mf_World *to, const mf_Group *group) {
    for (uint32_t g = 0; g < mf_world_group_count(from) && g < mf_world_group_count(to); g++)
        if (mf_world_group(from, g) == group)
            return mf_world_group(to, g);
    return NULL;
}

mf_Status mf_draw_hand_over(mf_World *from, mf_World *to, bool layers, mf_Error *error) {
    Drawings *old = drawings_of(from), *all;
    if (old == NULL)
        return MF_OK;
    MF_TRY(find_drawings(to, &all, error));
    mf_draw_forget(to, MF_DRAW_OWN);
    // The new world has nothing drawn yet; what it takes over is no longer the old one's to free.
    *all = *old;
    *old = (Drawings){.context = all->context};
    for (int i = 0; i < SLOTS; i++) {
        Slot *slot = &all->slots[i];
        old->slots[i].kind = MF_DRAW_CLEARED;
        const mf_Group *group = slot->group;
        slot->group = group != NULL ? counterpart(from, to, group) : NULL;
        if (is_layer(slot) && (!layers || (group != NULL && slot->group == NULL)))
            clear(to, all, slot);
    }
    return MF_OK;
}

// ---- records -----------------------------------------------------------------------------------

uint64_t mf_draw_serial(const mf_World *world) {
    const Drawings *all = world != NULL ? drawings_of(world) : NULL;
    return all != NULL ? all->serial : 0;
}

static uint32_t count_of(const Slot *slot) {
    return is_control(slot) ? 4 : slot->count;
}

static size_t size_of(const Slot *slot) {
    const size_t size = sizeof(mf_DrawnRecord) + count_of(slot) * sizeof(float) +
                        strlen(slot->name) + strlen(slot->text);
    return (size + 7) & ~(size_t)7;
}

static void write(const Drawings *all, const Slot *slot, mf_DrawnNumberFn number, const void *film,
                  uint8_t *out) {
    const float control[4] = {(float)slot->low, (float)slot->high, (float)slot->step,
                              (float)slot->value};
    const size_t size = size_of(slot), floats = count_of(slot) * sizeof(float);
    const mf_DrawnRecord head = {
        .size = (uint32_t)size,
        .slot = (uint32_t)(slot - all->slots),
        .serial = slot->serial,
        .time = slot->time,
        .kind = slot->kind,
        .color = slot->color,
        .thickness = slot->thickness,
        .robot = slot->group != NULL ? (int32_t)number(film, slot->group, slot->robot) : -1,
        .link = slot->link,
        .count = count_of(slot),
        .name_size = (uint32_t)strlen(slot->name),
        .text_size = (uint32_t)strlen(slot->text)};
    memset(out, 0, size);
    memcpy(out, &head, sizeof head);
    out += sizeof head;
    if (floats > 0)
        memcpy(out, is_control(slot) ? control : slot->numbers, floats);
    memcpy(out + floats, slot->name, head.name_size);
    memcpy(out + floats + head.name_size, slot->text, head.text_size);
}

static const Slot *next_change(const Drawings *all, uint64_t since, bool only_layers) {
    const Slot *next = NULL;
    for (const Slot *slot = all->slots; slot < all->slots + SLOTS; slot++)
        if (slot->serial > since && (next == NULL || slot->serial < next->serial) &&
            !(only_layers && is_control(slot)))
            next = slot;
    return next;
}

bool mf_draw_next(const mf_World *world, uint64_t since, mf_DrawnLayer *out) {
    const Drawings *all = drawings_of(world);
    const Slot *slot = all != NULL && all->serial > since ? next_change(all, since, true) : NULL;
    if (slot == NULL)
        return false;
    *out = (mf_DrawnLayer){.serial = slot->serial,
                           .slot = (uint32_t)(slot - all->slots),
                           .kind = slot->kind,
                           .color = slot->color,
                           .thickness = slot->thickness,
                           .group = slot->group,
                           .robot = slot->robot,
                           .link = slot->link,
                           .numbers = slot->numbers,
                           .count = slot->count,
                           .name = slot->name,
                           .text = slot->text};
    return true;
}

size_t mf_draw_pack(const mf_World *world, uint64_t since, mf_DrawnNumberFn number,
                    const void *film, uint8_t *out, size_t capacity, uint64_t *last) {
    const Drawings *all = drawings_of(world);
    const Slot *next;
    size_t size = 0;
    _Static_assert(sizeof(mf_DrawnRecord) == 56, "the page reads a head of 56 bytes");
    *last = since;
    while (all != NULL && *last < all->serial && (next = next_change(all, *last, false)) != NULL) {
        if (out != NULL && size + size_of(next) > capacity)
            break;
        if (out != NULL)
            write(all, next, number, film, out + size);
        size += size_of(next);
        *last = next->serial;
    }
    return size;
}
