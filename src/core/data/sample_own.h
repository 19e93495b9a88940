/* What the files about samples share. */
#ifndef INGOT_CORE_DATA_SAMPLE_OWN_H
#define INGOT_CORE_DATA_SAMPLE_OWN_H

#include "core/data/sample.h"

/* Columns in the order of sample_row. */
#define SAMPLE_COLUMNS                                                                                       \
    "s.id, s.position, s.size, s.width, s.height, s.revision, s.updated_at, s.updated_by, s.duration, "      \
    "s.name, "                                                                                               \
    "s.digest, s.state, s.former, s.annotation, s.sharpness, s.phash, s.split, s.by_person"
struct sample sample_row(const struct db_row *row);
/* sample_list with words. */
bool sample_search(struct db *db, struct arena *a, int64_t version, const struct sample_query *q,
                   struct sample **ret, size_t *ret_n, struct err *err);

/* Changes of counters, added up over a write and written once at its end. */
struct tally {
    struct arena *arena;
    int64_t version;
    int64_t states[SAMPLE_STATE_COUNT];
    int64_t bytes;
    bool copies;        /* of samples that are in another version already */
    struct map *labels; /* label -> struct tally_label */
};
struct tally_label {
    int64_t samples, shapes;
};
void tally_begin(struct tally *t, struct arena *a, int64_t version);
/* A sample comes (sign 1) or goes (-1) with its state and annotation. Labels of cleaned samples are not
 * counted. */
bool tally_sample(struct tally *t, enum sample_state state, struct str annotation, int64_t size, int sign,
                  struct err *err);
/* What the database counted: samples of a state with their bytes, samples and shapes of a label. */
void tally_state(struct tally *t, enum sample_state state, int64_t samples, int64_t bytes);
void tally_label(struct tally *t, struct str label, int64_t samples, int64_t shapes);
/* Writes and frees. Also to be called with write false on failure. */
bool tally_end(struct tally *t, struct op *op, bool write, struct err *err);

/* The rows of sample_labels: removes those of a sample, then adds those of its annotation. */
bool sample_labels_set(struct db_conn *c, int64_t version, int64_t sample, int64_t position,
                       struct str annotation, bool had, struct err *err);
bool sample_history_add(struct db_conn *c, const struct sample *s, struct err *err);

/* The statements of sample_copy_step, run for every few hundred samples of a million. */
enum sample_copy_statement { COPY_SAMPLES, COPY_LABELS, COPY_USES, COPY_STATES, COPY_COUNTS, COPY_COUNT };
extern const char *const sample_copy_sql[COPY_COUNT];

/* What putting n over the sample `old` comes to: *ret is n without what is not taken. SAMPLE_KEPT and
 * SAMPLE_SAME change nothing but, with SAMPLE_KEPT, maybe the part. */
enum sample_fate sample_fate_of(const struct sample *old, const struct sample_new *n, struct sample_new *ret);
/* Whether putting it would change blob, annotation or part. */
bool sample_differs(const struct sample *old, const struct sample_new *n);

/* What state an annotation gives. */
enum sample_state sample_state_for(struct str annotation, bool machine);

#endif
