// Scalar reference of the look-up in lookup.h for one real type: the includer defines MF_REAL and
// MF_REAL_NAME and may include this more than once, so there is no guard.

// The map as a look-up reads it, in the real type of the computation.
typedef struct MF_REAL_NAME(mf_HeightView) {
    const MF_REAL *height; // [m] rows*columns, row after row
    uint32_t columns;      // [1] 1 .. MF_TERRAIN_SIDE_LIMIT
    uint32_t rows;         // [1] 1 .. MF_TERRAIN_SIDE_LIMIT
    MF_REAL origin[2];     // [m] world x, y of the low corner of cell (0, 0)
    MF_REAL inverse_cell;  // [1/m] 1 / edge of a cell
} MF_REAL_NAME(mf_HeightView);

// `value` in [0, last]; NaN gives 0.
static inline MF_REAL MF_REAL_NAME(mf_height_clamp)(MF_REAL value, MF_REAL last) {
    MF_REAL positive = value > 0 ? value : 0;
    return positive < last ? positive : last;
}

// Index of the cell that holds `position` along one axis of `count` cells. Any value is fine.
static inline uint32_t MF_REAL_NAME(mf_height_index)(MF_REAL position, MF_REAL origin,
                                                     MF_REAL inverse_cell, uint32_t count) {
    MF_REAL value = (position - origin) * inverse_cell;
    return (uint32_t)MF_REAL_NAME(mf_height_clamp)(value, (MF_REAL)(count - 1));
}

// Height [m] of the cell that holds (x, y) [m].
static inline MF_REAL MF_REAL_NAME(mf_height_nearest)(const MF_REAL_NAME(mf_HeightView) * view,
                                                      MF_REAL x, MF_REAL y) {
    uint32_t column =
        MF_REAL_NAME(mf_height_index)(x, view->origin[0], view->inverse_cell, view->columns);
    uint32_t row =
        MF_REAL_NAME(mf_height_index)(y, view->origin[1], view->inverse_cell, view->rows);
    return view->height[(uint64_t)row * view->columns + column];
}

// Where a position lies between two cell centers along one axis.
typedef struct MF_REAL_NAME(mf_HeightSpan) {
    uint32_t index;   // [1] the lower cell
    uint32_t next;    // [1] distance to the upper cell: 1, or 0 on an axis of one cell
    MF_REAL fraction; // [1] 0 .. 1 from the lower to the upper center
    MF_REAL inside;   // [1] 1 between the outermost centers, 0 where the border value holds
} MF_REAL_NAME(mf_HeightSpan);

static inline MF_REAL_NAME(mf_HeightSpan)
    MF_REAL_NAME(mf_height_span)(MF_REAL position, MF_REAL origin, MF_REAL inverse_cell,
                                 uint32_t count) {
    MF_REAL_NAME(mf_HeightSpan) span;
    MF_REAL value = (position - origin) * inverse_cell - (MF_REAL)0.5;
    MF_REAL clamped = MF_REAL_NAME(mf_height_clamp)(value, (MF_REAL)(count - 1));
    uint32_t highest_lower = count > 1 ? count - 2 : 0;
    uint32_t lower = (uint32_t)clamped;
    span.index = lower < highest_lower ? lower : highest_lower;
    span.next = count > 1;
    span.fraction = clamped - (MF_REAL)span.index;
    span.inside = clamped == value ? 1 : 0;
    return span;
}

// Height [m] between the four nearest cell centers; `gradient` gets (dh/dx, dh/dy) [1].
static inline MF_REAL MF_REAL_NAME(mf_height_bilinear)(const MF_REAL_NAME(mf_HeightView) * view,
                                                       MF_REAL x, MF_REAL y, MF_REAL gradient[2]) {
    MF_REAL_NAME(mf_HeightSpan)
    across = MF_REAL_NAME(mf_height_span)(x, view->origin[0], view->inverse_cell, view->columns);
    MF_REAL_NAME(mf_HeightSpan)
    along = MF_REAL_NAME(mf_height_span)(y, view->origin[1], view->inverse_cell, view->rows);
    const MF_REAL *low = view->height + (uint64_t)along.index * view->columns + across.index;
    const MF_REAL *high = low + (uint64_t)along.next * view->columns;
    MF_REAL low_rise = low[across.next] - low[0];
    MF_REAL high_rise = high[across.next] - high[0];
    MF_REAL low_height = low[0] + across.fraction * low_rise;
    MF_REAL high_height = high[0] + across.fraction * high_rise;
    MF_REAL rise = high_height - low_height;
    gradient[0] =
        (low_rise + along.fraction * (high_rise - low_rise)) * view->inverse_cell * across.inside;
    gradient[1] = rise * view->inverse_cell * along.inside;
    return low_height + along.fraction * rise;
}
