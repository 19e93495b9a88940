/* Pictures in the instructions of a task. Whoever writes them uploads a picture and names it in the Markdown,
 * ![text](upload:ID); a media worker decodes it and writes it anew as a JPEG, and the text names that as
 * picture:NAME (the first digits of its SHA-256). The task keeps a list of its pictures, whose blobs are used
 * by its project for as long as the text names them. A text may only name pictures that the task has: so
 * nobody comes by other bytes of which they know the digest. */
#ifndef INGOT_CORE_LABEL_INSTRUCTIONS_H
#define INGOT_CORE_LABEL_INSTRUCTIONS_H

#include "core/engine.h"
#include "store/store.h"

#define INSTRUCTIONS_PICTURES 50         /* in one text */
#define INSTRUCTIONS_SIDE     1600       /* pixels */
#define INSTRUCTIONS_BYTES    (16 << 20) /* of an upload */

/* Before the write: takes the uploads that the text names. old is NULL at create. */
bool instructions_prepare(struct op *op, const struct object *old, struct object *o, struct err *err);
/* Inside a write: the blobs follow the list; old or now is NULL where there is no task before or after. */
bool instructions_use(struct op *op, const struct object *old, const struct object *now, struct err *err);
/* The blob of a picture of the task by its name. */
bool instructions_picture(struct arena *a, const struct object *task, struct str name, struct digest *ret,
                          struct err *err);

#endif
