// The report's sections on the search: diversity over generations, the family tree of the best, and
// the repertoire of MAP-Elites.
#include "view/report_data.h"
#include "search/database.h"

#include <math.h>
#include <string.h>

#include "view/chart.h"

enum { MOMENTS = 100, LEAVES = 24, MAP_CELLS = 120 };

// ---- gathering ---------------------------------------------------------------------------------

static mf_Status gather_diversity(mf_ReportData *data, mf_Archive *archive, mf_Error *error) {
    uint32_t generations = data->generation_count;
    uint32_t count = generations < MOMENTS ? generations : MOMENTS;
    data->diversity = mf_allocate(data->context, count, sizeof *data->diversity);
    data->moment = mf_allocate(data->context, count, sizeof *data->moment);
    MF_NEED_MEMORY(data->diversity != NULL && data->moment != NULL, error, "report");
    mf_Status status = MF_OK;
    for (uint32_t i = 0; i < count && status == MF_OK; i++) {
        // From the first to the newest one.
        data->moment[i] =
            count == 1 ? 1 : 1 + (uint32_t)((uint64_t)i * (generations - 1) / (count - 1));
        status = mf_archive_diversity(archive, data->moment[i], &data->diversity[i], error);
    }
    data->moment_count = count;
    return status;
}

mf_Status mf_report_gather_search(mf_ReportData *data, mf_Archive *archive, mf_Error *error) {
    mf_ArchiveRun run;
    mf_Status status = mf_archive_run(archive, &run, error);
    data->search = run.search;
    MF_THEN(status, gather_diversity(data, archive, error));
    MF_THEN(status, mf_archive_phylogeny(archive, LEAVES, &data->tree, &data->tree_count, error));
    if (status == MF_OK && run.search.descriptor_count > 0)
        status = mf_archive_cells(archive, &data->elites, &data->elite_count, error);
    return status;
}

void mf_report_release_search(mf_ReportData *data) {
    mf_release(data->context, data->diversity);
    mf_release(data->context, data->moment);
    mf_release(data->context, data->tree);
    mf_release(data->context, data->elites);
}

// ---- the scheme in words -----------------------------------------------------------------------

void mf_report_scheme(mf_Text *text, const mf_ReportData *data) {
    static const char *const parents[] = {
        [MF_SELECTION_TRUNCATION] = "one of the best survivors",
        [MF_SELECTION_PROPORTIONATE] = "chosen with a chance in proportion to its fitness",
        [MF_SELECTION_RANK] = "chosen with a chance that decreases with its rank",
        [MF_SELECTION_TOURNAMENT] = "the winner of a tournament",
        [MF_SELECTION_UNIFORM] = "any one, with equal chances"};
    static const char *const axes_of_cells[] = {
        [MF_REPLACEMENT_RANDOM] = "any one, with equal chances",
        [MF_REPLACEMENT_WORST] = "the worst, unless that is better",
        [MF_REPLACEMENT_UNFIT] = "one that is far from the best",
        [MF_REPLACEMENT_SIMILAR] = "one with a similar genome",
        [MF_REPLACEMENT_CELL] = "the one in its cell of the repertoire, unless that is better"};
    const mf_SearchConfig *search = &data->search;
    if (search->replacement != MF_REPLACEMENT_GENERATION)
        mf_text_format(text,
                       "<p>A generation is %u children. The parent of each is %s; the child "
                       "replaces %s.</p>\n",
                       search->population, parents[search->selection],
                       axes_of_cells[search->replacement]);
    else if (search->selection != MF_SELECTION_TRUNCATION)
        mf_text_format(text,
                       "<p>Each generation keeps the best %u of %u robots and adds mutated copies "
                       "of others. The parent of each is %s.</p>\n",
                       search->survivors, search->population, parents[search->selection]);
    else
        mf_text_format(text,
                       "<p>Each generation keeps the best %u of %u robots and adds mutated copies "
                       "of them.</p>\n",
                       data->file->search.survivors, data->file->search.population);
    if (search->islands > 1)
        mf_text_format(text, "<p>There are %u such populations, the islands.", search->islands);
    if (search->islands > 1 && search->migration_every > 0)
        mf_text_format(
            text,
            " Every %u generations the best %u of each are copied to the next one, along "
            "a ring.",
            search->migration_every, search->migration_best);
    if (search->islands > 1)
        mf_text_put(text, "</p>\n");
}

// ---- diversity ---------------------------------------------------------------------------------

void mf_report_diversity(mf_Text *text, const mf_ReportData *data) {
    uint32_t count = data->moment_count;
    double *columns = mf_allocate(data->context, count, 3 * sizeof(double));
    if (columns == NULL) {
        text->failed = true;
        return;
    }
    double *generation = columns, *distinct = columns + count, *distance = distinct + count;
    for (uint32_t i = 0; i < count; i++) {
        const mf_ArchiveDiversity *diversity = &data->diversity[i];
        generation[i] = data->moment[i];
        distinct[i] = diversity->alive > 0 ? (double)diversity->distinct / diversity->alive : 0.0;
        distance[i] = diversity->distance;
    }
    mf_text_put(text, "<p><b>distinct</b>: share of different genomes among those alive; "
                      "<b>distance</b>: mean share of bytes in which two genomes differ.</p>\n");
    mf_Chart chart = mf_chart_make(mf_axis_fit(1.0, generation[count - 1], 8, false, "generation"),
                                   mf_axis_fit(0.0, 1.0, 5, true, "share"));
    mf_chart_begin(text, &chart, "Diversity of genomes over generations");
    mf_chart_line(text, &chart, generation, distinct, count, "mean", false);
    mf_chart_line(text, &chart, generation, distance, count, "best", false);
    double gap = mf_chart_y(&chart, distance[count - 1]) - mf_chart_y(&chart, distinct[count - 1]);
    double shift = fabs(gap) < 17.0 ? 17.0 - fabs(gap) : 0.0; // [px] a line
    mf_chart_label(text, &chart, distinct[count - 1], gap < 0.0 ? shift : 0.0, "mean", "distinct");
    mf_chart_label(text, &chart, distance[count - 1], gap < 0.0 ? 0.0 : shift, "best", "distance");
    mf_chart_end(text);
    mf_release(data->context, columns);
}

// ---- the family tree ---------------------------------------------------------------------------

// Index of the node `id`; the nodes are sorted by decreasing id. UINT32_MAX: none.
static uint32_t find_node(const mf_ReportData *data, uint64_t id) {
    uint32_t low = 0, high = data->tree_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (data->tree[middle].id > id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < data->tree_count && data->tree[low].id == id ? low : UINT32_MAX;
}

// Position of each node across: every line has a strip as wide as its number of leaves, within that
// of its parent, so that lines do not cross. Returns the number of leaves.
static double lay_out(const mf_ReportData *data, double *leaves, double *low) {
    uint32_t count = data->tree_count;
    double total = 0.0;
    memset(leaves, 0, count * sizeof *leaves);
    for (uint32_t i = 0; i < count; i++) { // children first
        uint32_t parent = find_node(data, data->tree[i].parent);
        leaves[i] = fmax(leaves[i], 1.0);
        if (parent != UINT32_MAX)
            leaves[parent] += leaves[i];
    }
    for (uint32_t i = count; i-- > 0;) { // parents first; `low` moves on with each child
        uint32_t parent = find_node(data, data->tree[i].parent);
        double *next = parent == UINT32_MAX ? &total : &low[parent];
        low[i] = *next;
        *next += leaves[i];
    }
    // A parent's `low` has moved to its end, that of a leaf has not.
    for (uint32_t i = 0; i < count; i++)
        low[i] -= leaves[i];
    for (uint32_t i = 0; i < count; i++)
        leaves[i] *= 0.5;
    return total;
}

static void draw_branches(mf_Text *text, const mf_ReportData *data, const mf_Chart *chart,
                          const double *across, const bool *chosen, bool best) {
    mf_text_format(text, "<path class=\"line %s\"%s d=\"", best ? "best" : "mean",
                   best ? "" : " style=\"stroke-width:1.2\"");
    for (uint32_t i = 0; i < data->tree_count; i++) {
        uint32_t parent = find_node(data, data->tree[i].parent);
        if (parent == UINT32_MAX || chosen[i] != best)
            continue;
        mf_text_format(text, "M%.1f %.1fL%.1f %.1f",
                       mf_chart_x(chart, data->tree[parent].generation),
                       mf_chart_y(chart, across[parent]),
                       mf_chart_x(chart, data->tree[i].generation), mf_chart_y(chart, across[i]));
    }
    mf_text_put(text, "\"/>\n");
}

static void draw_tree(mf_Text *text, const mf_ReportData *data, double *leaves, double *low,
                      bool *chosen) {
    uint32_t count = data->tree_count, line = 0;
    bool *inner = chosen + count;
    memset(chosen, 0, 2 * count * sizeof *chosen);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t parent = find_node(data, data->tree[i].parent);
        if (parent != UINT32_MAX)
            inner[parent] = true;
    }
    double total = lay_out(data, leaves, low);
    for (uint32_t i = 0; i < count; i++)
        low[i] += inner[i] ? leaves[i] : 3.0 * leaves[i];
    for (uint32_t i = find_node(data, data->champion.id); i != UINT32_MAX;
         i = find_node(data, data->tree[i].parent)) {
        chosen[i] = true;
        line++;
    }
    mf_text_format(
        text,
        "<p>The best alive and their ancestors, joined at common ancestors. The line of the "
        "champion has <b>%u</b> individuals; <code>mayfly replay RUN --ancestry "
        "best</code> lists them.</p>\n",
        line);
    mf_Chart chart =
        mf_chart_make(mf_axis_fit(1.0, data->generation_count, 8, false, "generation of birth"),
                      mf_axis_fit(0.0, total, 4, false, "lines"));
    mf_chart_begin(text, &chart, "Lines of descent of the best individuals");
    draw_branches(text, data, &chart, low, chosen, false);
    draw_branches(text, data, &chart, low, chosen, true);
    uint32_t champion = find_node(data, data->champion.id);
    if (champion != UINT32_MAX)
        mf_chart_label(text, &chart, low[champion], 0.0, "best", "champion");
    mf_chart_end(text);
}

void mf_report_tree(mf_Text *text, const mf_ReportData *data) {
    uint32_t count = data->tree_count;
    double *leaves = mf_allocate(data->context, count, 2 * sizeof(double));
    bool *chosen = mf_allocate(data->context, count, 2 * sizeof(bool));
    if (leaves == NULL || chosen == NULL)
        text->failed = true;
    else
        draw_tree(text, data, leaves, leaves + count, chosen);
    mf_release(data->context, leaves);
    mf_release(data->context, chosen);
}

// ---- the repertoire ----------------------------------------------------------------------------

// The grid that is drawn: the first two descriptors, with several cells in one where there are
// many.
typedef struct Grid {
    uint32_t columns, rows;
    double *best; // fitness, NaN: empty
} Grid;

static uint32_t drawn_cell(const mf_Descriptor *descriptor, double value, uint32_t cells) {
    double part = (value - descriptor->lower) / (descriptor->upper - descriptor->lower) * cells;
    return part > 0.0 ? (uint32_t)fmin(part, cells - 1.0) : 0;
}

static void fill_grid(const mf_ReportData *data, Grid *grid, double range[2]) {
    const mf_Descriptor *axes = data->search.descriptors;
    for (size_t i = 0; i < (size_t)grid->columns * grid->rows; i++)
        grid->best[i] = NAN;
    range[0] = INFINITY;
    range[1] = -INFINITY;
    for (uint32_t i = 0; i < data->elite_count; i++) {
        const mf_Elite *elite = &data->elites[i];
        uint32_t row = data->search.descriptor_count < 2
                           ? 0
                           : drawn_cell(&axes[1], elite->descriptor[1], grid->rows);
        uint32_t column = drawn_cell(&axes[0], elite->descriptor[0], grid->columns);
        double *cell = &grid->best[row * grid->columns + column];
        if (!isfinite(elite->fitness))
            continue;
        *cell = fmax(*cell, elite->fitness); // of NaN and a number: the number
        range[0] = fmin(range[0], elite->fitness);
        range[1] = fmax(range[1], elite->fitness);
    }
}

static void draw_cells(mf_Text *text, const mf_ReportData *data, const Grid *grid,
                       const double range[2]) {
    const mf_Descriptor *axes = data->search.descriptors;
    bool flat = data->search.descriptor_count < 2;
    mf_Chart chart =
        mf_chart_make(mf_axis_fit(axes[0].lower, axes[0].upper, 8, false, axes[0].name),
                      mf_axis_fit(flat ? 0.0 : axes[1].lower, flat ? 1.0 : axes[1].upper, 6, false,
                                  flat ? "" : axes[1].name));
    mf_chart_begin(text, &chart, "Fitness of the repertoire over its descriptors");
    double wide = (chart.width - chart.left - chart.right) / grid->columns;
    double high = (chart.height - chart.top - chart.bottom) / grid->rows;
    for (uint32_t row = 0; row < grid->rows; row++) {
        for (uint32_t column = 0; column < grid->columns; column++) {
            double value = grid->best[row * grid->columns + column];
            if (!isfinite(value))
                continue;
            double part = range[1] > range[0] ? (value - range[0]) / (range[1] - range[0]) : 1.0;
            mf_text_format(text,
                           "<rect class=\"right\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" "
                           "height=\"%.2f\" fill-opacity=\"%.2f\"/>\n",
                           chart.left + column * wide,
                           chart.height - chart.bottom - (row + 1) * high, wide, high,
                           0.12 + 0.88 * part);
        }
    }
    mf_chart_end(text);
}

void mf_report_repertoire(mf_Text *text, const mf_ReportData *data) {
    const mf_Descriptor *axes = data->search.descriptors;
    uint64_t cells = 1;
    for (uint32_t i = 0; i < data->search.descriptor_count; i++)
        cells *= axes[i].cells;
    Grid grid = {.columns = axes[0].cells < MAP_CELLS ? axes[0].cells : MAP_CELLS, .rows = 1};
    if (data->search.descriptor_count > 1)
        grid.rows = axes[1].cells < MAP_CELLS ? axes[1].cells : MAP_CELLS;
    grid.best = mf_allocate(data->context, (size_t)grid.columns * grid.rows, sizeof *grid.best);
    if (grid.best == NULL) {
        text->failed = true;
        return;
    }
    double range[2];
    fill_grid(data, &grid, range);
    mf_text_format(text,
                   "<p>The best robot of each cell: <b>%u</b> of %llu cells are filled (%s %%). "
                   "Fitness from %s (pale) to %s, sum of all (QD score) %s",
                   data->elite_count, (unsigned long long)cells,
                   mf_text_measure(100.0 * data->elite_count / (double)cells).text,
                   mf_text_measure(range[0]).text, mf_text_measure(range[1]).text,
                   mf_text_measure(data->diversity[data->moment_count - 1].quality).text);
    if (data->search.descriptor_count > 2)
        mf_text_put(text, "; of the other descriptors the best value is drawn");
    mf_text_put(text, ".</p>\n");
    draw_cells(text, data, &grid, range);
    mf_release(data->context, grid.best);
}
