/* Which samples of the version the files of an upload are. An export that is imported again brings its files
 * below other folders: "images/train/a.jpg" is the sample "a.jpg", "cat/1.png" may be the sample "x/1.png"
 * with the label cat. A file is a sample that is there already when it has the sample's bytes, and its path
 * is the sample's name but for
 *   - folders in front of either: "images/a.jpg", "a.jpg"
 *   - folders that only hold pictures or name a part of a split: "JPEGImages/a.jpg", "images/train/a.jpg"
 *   - the folder of its label instead of all its folders: what one folder per class makes of it
 *   - a number that keeps names apart: "a-2.png", "a.png".
 * Each file is one sample at most. */
#ifndef INGOT_CORE_DATA_RECOGNISE_H
#define INGOT_CORE_DATA_RECOGNISE_H

#include "core/data/sample.h"
#include "core/data/unpack.h"

struct recognise;
struct recognise *recognise_new(struct unpacked *files);
void recognise_free(struct recognise *r); /* NULL is fine */
/* A sample whose name is no path of the upload; its name stays where it is. `listed` is given back. */
void recognise_note(struct recognise *r, const struct sample *s, struct str name, size_t listed);
/* After all were noted: sets `sample` of the files that are samples, and calls found for those. */
void recognise_all(struct recognise *r, void (*found)(void *ctx, size_t listed), void *ctx);

#endif
