/* Annotations of samples in work, parsed and kept in memory: the next stroke on a sample with a thousand
 * polygons neither parses the others nor spells their numbers again. Bounded, the ones not used for longest
 * go first.
 *
 * All of it belongs to the thread that writes, and a write may be undone or run again. So a document counts
 * only while the row has the revision and the stamp that the document had last: stamps are never given twice
 * by this process, and every change of a row changes its stamp. */
#ifndef INGOT_CORE_DATA_DOCUMENT_H
#define INGOT_CORE_DATA_DOCUMENT_H

#include "codec/operation.h"

#define DOCUMENTS_MAX       1024
#define DOCUMENTS_MAX_BYTES (64u << 20)

struct documents;
struct document;

struct documents *documents_new(void);
void documents_free(struct documents *d);

/* Microseconds since 1970, later than any it gave before: what is written as the time of a change. */
int64_t documents_stamp(struct documents *d);

/* The document of a sample (layer 0: its own annotation) when it is at that revision and stamp, else NULL. */
struct document *documents_find(struct documents *all, int64_t sample, int64_t layer, int64_t revision,
                                int64_t stamp);
/* Reads one from its text. NULL and err when that is not an annotation of the type. */
struct document *documents_read(struct documents *all, int64_t sample, int64_t layer,
                                enum annotation_type type, struct str json, struct err *err);

/* Does the operation of the given JSON (checked before) to it. On failure, ERR_INVALID, it is as it was. *ret
 * and *ret_op live as long as the document stays. */
bool document_apply(struct document *d, struct str json, uint32_t w, uint32_t h, struct operation *ret_op,
                    struct operation_outcome *ret, struct err *err);
void document_is_at(struct document *d, int64_t revision, int64_t stamp);
const struct annotation *document_annotation(const struct document *d);
/* Its canonical text, appended; only what was changed is spelled anew. */
void document_write(struct document *d, struct buf *b);
/* The entry of that id as canonical JSON, in the document's memory; STR_NULL when there is none. */
struct str document_entry(struct document *d, struct str id);

/* A client that no packed operation of the sample is from: asked once, remembered here. */
bool document_knows_client(const struct document *d, struct str client);
void document_note_client(struct document *d, struct str client);

#endif
