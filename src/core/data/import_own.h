/* What the files of an import share: import.c is the task, import_files.c what was uploaded and the samples
 * that are there, import_sample.c what the files say of one sample, import_put.c the writes. */
#ifndef INGOT_CORE_DATA_IMPORT_OWN_H
#define INGOT_CORE_DATA_IMPORT_OWN_H

#include "core/data/classes.h"
#include "core/data/import.h"
#include "core/data/import_undo.h"
#include "core/data/label_check.h"
#include "core/data/recognise.h"
#include "core/data/sample.h"
#include "core/data/spool.h"
#include "core/data/unpack.h"
#include "media/media.h"

#define IMPORT_BATCH 1000 /* samples in memory */

struct import {
    struct task *task;
    struct object version;
    struct sample_set set;
    struct unpacked files;
    struct map *by_path; /* path -> struct unpacked_file, new files only */
    struct codec_file *listing;
    size_t listed;
    struct recognise *recognise; /* while the listing is made; NULL: nothing is in the version yet */
    bool filled;                 /* samples are in it already */
    const struct codec *codec;
    struct spool *spool;
    int64_t read;             /* samples in it */
    int64_t met;              /* samples that the upload spoke of, or brought */
    struct arena batch_arena; /* of the samples being read, then of those being put */
    struct sample_new batch[IMPORT_BATCH];
    size_t batched;
    struct sample_waiting waiting[IMPORT_BATCH];
    size_t waits;
    size_t put, kept;           /* of batch and waiting: so many are committed */
    size_t put_next, kept_next; /* and so many will be with the write that runs */
    bool waited_for;            /* annotations wait for samples of this version */
    struct classes classes;
    struct label_rules rules; /* of the dataset's label set */
    struct map *unasked;      /* attributes that it does not ask for, told already */
    size_t unasked_count;
    struct map *renamed;                  /* former names of labels that its files say, told already */
    bool replace;                         /* also what people labelled */
    enum sample_fate fates[IMPORT_BATCH]; /* of the batch that is being put */
    int64_t fated[SAMPLE_FATE_COUNT];     /* of all that was put */
    uint32_t annotations[IMPORT_BATCH];   /* of the batch */
    int64_t annotated;                    /* annotations of all that was put */
    int64_t waited, done;
    struct import_undo undo;
};

/* Progress, of which an import has four quarters: its sources are read in the first two (unpack.c,
 * folder_in.c, s3_in.c), samples in the third (2), and they are put in the last (3). */
bool import_progress(struct import *m, int64_t done, int64_t of, int quarter, struct err *err);

/* --- files --- */
/* Fills listing: the files that a codec may see. */
bool import_list(struct import *m, struct err *err);
/* The first `want` bytes of a file, or all (0). */
bool import_map(struct import *m, const struct unpacked_file *f, size_t want, struct str *ret,
                struct err *err);
void import_unmap(struct str bytes);
bool import_probe(struct import *m, const struct unpacked_file *f, struct media_info *ret, struct err *err);
/* For codec_input, whose ctx is the import. */
bool import_open(void *ctx, struct str path, struct str *ret, struct err *err);
void import_close(void *ctx, struct str path, struct str bytes);
void import_drop(void *ctx, struct str part);
bool import_size(void *ctx, struct str path, uint32_t *w, uint32_t *h, struct err *err);

/* --- samples --- */
/* A class that the files name, by the name that its label has today. */
bool import_label(void *ctx, const struct codec_label *l, struct err *err);
/* Whether annotations wait for samples of the version. */
bool import_look_for_waiting(struct import *m, struct err *err);
/* For codec_input: what the files say of a sample goes to the spool. */
bool import_sample(void *ctx, const struct codec_sample *s, struct err *err);

/* --- putting --- */
/* Everything of the spool into the version. */
bool import_put_all(struct import *m, struct err *err);

#endif
