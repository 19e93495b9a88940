/* Samples of dataset versions and their annotations. Not a kind: there are millions. A sample belongs to one
 * version, has a name (a path, unique in the version), a blob, a place (position: dense order of arrival,
 * what the gallery scrolls by), a state and an annotation in the canonical JSON of codec/annotation.h.
 *
 * Counters per version (samples by state, samples and shapes by label) are kept in the same write as what
 * they count; they are never recounted. Every change of an annotation or state is a line of the sample's
 * history. A published version never changes. Blobs are used once per sample by the version's project. */
#ifndef INGOT_CORE_DATA_SAMPLE_H
#define INGOT_CORE_DATA_SAMPLE_H

#include "codec/codec.h"
#include "core/engine.h"
#include "store/store.h"

extern const struct kind kind_dataset, kind_dataset_version;

enum sample_state {
    SAMPLE_UNANNOTATED,
    SAMPLE_ANNOTATED,
    SAMPLE_MACHINE, /* annotated by a model, not looked at by a person */
    SAMPLE_REVIEW,
    SAMPLE_ACCEPTED,
    SAMPLE_REJECTED,
    SAMPLE_CLEANED, /* moved out of the set; its former state is kept */
    SAMPLE_STATE_COUNT,
};
extern const char *const sample_state_names[]; /* "unannotated", "annotated", "machine", "review", ... */
bool sample_state_of(struct str name, enum sample_state *ret);

/* The tables; part of kind_dataset_version's extra_sql. */
extern const char sample_sql[];

/* The version that samples belong to, as far as their rules need it. */
struct sample_set {
    int64_t version, dataset, project;
    enum annotation_type type;
    bool published, publishing, reviewing;
};
bool sample_set_of(struct op *op, const struct object *version, struct sample_set *ret, struct err *err);
/* ERR_CONFLICT when it is published or about to be. */
bool sample_set_open(const struct sample_set *set, struct err *err);

struct sample {
    int64_t id, position, size, width, height, revision, updated_at, updated_by;
    double duration;
    struct str name;
    struct digest blob;
    enum sample_state state, former; /* former: before it was cleaned */
    struct str annotation;           /* canonical; "{}" when there is none */
    double sharpness;                /* -1: not measured */
    uint64_t phash;
    bool measured;
    enum codec_split split; /* the part of a split that its files put it into */
    bool by_person;         /* a person labelled or judged it: imports leave it unless asked to replace it */
};

/* --- adding --- */
struct sample_new {
    struct str name; /* checked with manifest_check_path by the caller */
    struct digest blob;
    int64_t size, width, height;
    double duration;
    struct str annotation;  /* canonical, or STR_NULL */
    enum codec_split split; /* CODEC_SPLIT_NONE: as it is */
    bool machine;           /* state SAMPLE_MACHINE instead of ANNOTATED */
    bool keep_state;        /* of the one it replaces, unless the annotation becomes empty */
    bool replace;           /* also what a person labelled */
};
/* What became of a sample that was put. */
enum sample_fate {
    SAMPLE_ADDED,
    SAMPLE_CHANGED,  /* one of that name got another blob, annotation or part */
    SAMPLE_REPLACED, /* the same, and a person had labelled it */
    SAMPLE_KEPT,     /* a person labelled it: blob and annotation stay, though these are others */
    SAMPLE_SAME,
    SAMPLE_FATE_COUNT,
};
/* Puts samples, one after the other inside a write, between begin and end (which follows every begin, with
 * false when one failed). Where the name is there already another blob or another annotation replaces
 * (annotation STR_NULL keeps the old one), unless a person labelled it and `replace` is not set; the history
 * keeps what was. A cleaned one stays cleaned. Counters follow. The same again changes nothing. */
struct sample_putting;
struct sample_putting *sample_put_begin(struct op *op, const struct sample_set *set, struct err *err);
bool sample_put(struct sample_putting *p, const struct sample_new *n, enum sample_fate *fate,
                struct err *err);
bool sample_put_end(struct sample_putting *p, bool ok, struct err *err);

/* Annotations whose samples have not come yet: they are attached when a sample of that name is put, and its
 * part of the split is theirs, unless it brings an annotation with a part of its own. */
struct sample_waiting {
    struct str name, annotation; /* canonical; STR_NULL: only the part is known */
    enum codec_split split;
};
bool sample_wait(struct op *op, const struct sample_set *set, const struct sample_waiting *w, size_t n,
                 struct err *err);

/* --- reading --- */
struct sample_query {
    struct str label; /* STR_NULL: any */
    int state;        /* -1: all but cleaned; -2: all */
    struct str q;     /* words that the name has (core/search_text.h) */
    bool by_name;     /* order by name; not with q or label */
    int64_t after;    /* position; 0: from the first */
    int64_t limit;    /* 1..1000 */
};
bool sample_list(struct db *db, struct arena *a, int64_t version, const struct sample_query *q,
                 struct sample **ret, size_t *ret_n, struct err *err);
bool sample_get(struct db *db, struct db_conn *c, struct arena *a, int64_t version, int64_t id,
                struct sample *ret, struct err *err);
/* All samples in the order of their positions, a page at a time behind the scenes; each's sample is valid in
 * the call. */
bool sample_each(struct db *db, int64_t version, const struct sample_query *q,
                 bool (*each)(void *ctx, const struct sample *s, struct err *err), void *ctx,
                 struct err *err);

/* The same in the order of names (q->q and q->after are not used). */
bool sample_each_by_name(struct db *db, int64_t version, const struct sample_query *q,
                         bool (*each)(void *ctx, const struct sample *s, struct err *err), void *ctx,
                         struct err *err);

struct sample_counts {
    int64_t states[SAMPLE_STATE_COUNT];
    int64_t samples, bytes; /* samples: all but cleaned */
};
bool sample_counts(struct db *db, int64_t version, struct sample_counts *ret, struct err *err);
struct sample_label_count {
    struct str label;
    int64_t samples, shapes;
};
bool sample_label_counts(struct db *db, struct arena *a, int64_t version, struct sample_label_count **ret,
                         size_t *ret_n, struct err *err);

/* --- changing, inside a write --- */
struct sample_edit {
    int64_t id;
    int64_t revision;      /* must be current (ERR_STALE); 0: whatever */
    struct str annotation; /* canonical; STR_NULL: as it is */
    int state;             /* -1: follows the annotation */
    bool person;           /* a person says so, see by_person */
};
bool sample_change(struct op *op, const struct sample_set *set, const struct sample_edit *e,
                   struct sample *ret, struct err *err);
/* Moves in or out of "cleaned"; those already there are passed over. */
bool sample_clean(struct op *op, const struct sample_set *set, const int64_t *ids, size_t n, bool cleaned,
                  int64_t *changed, struct err *err);
/* Another blob in place of the old one (preprocessing), with its annotation, size and name; where another
 * sample has that name, a number follows it. */
bool sample_replace(struct op *op, const struct sample_set *set, int64_t id, const struct sample_new *s,
                    struct err *err);
/* Puts a sample back as `was` says: blob, size, annotation, state, measures; its history keeps both.
 * *ret_done is false, and nothing changed, when it is gone or not at the revision after was->revision. */
bool sample_revert(struct op *op, const struct sample_set *set, const struct sample *was, bool *ret_done,
                   struct err *err);
bool sample_remove(struct op *op, const struct sample_set *set, const int64_t *ids, size_t n,
                   struct err *err);
bool sample_measured(struct op *op, int64_t id, double sharpness, uint64_t phash, struct err *err);

struct sample_past {
    int64_t revision, at, by;
    enum sample_state state;
    struct str annotation;
};
/* Those that are kept whole, before a revision, newest first; between them are operations
 * (operation_log.h). */
bool sample_history(struct db *db, struct arena *a, int64_t sample, int64_t before, int64_t limit,
                    struct sample_past **ret, size_t *ret_n, struct err *err);

/* --- whole versions --- */
/* Copies the next n samples behind the position `after` of one version to another of the same project;
 * *ret_last is the last position copied, 0 when there is nothing more, *ret_rows how many were copied. */
bool sample_copy_step(struct op *op, const struct sample_set *from, const struct sample_set *to,
                      int64_t after, int64_t n, int64_t *ret_last, int64_t *ret_rows, struct err *err);
/* Removes samples of a deleted version, as many as one write may; *ret_left false when none are left. */
bool sample_purge_step(struct op *op, int64_t version, int64_t project, bool *ret_left, struct err *err);

#endif
