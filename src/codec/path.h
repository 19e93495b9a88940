/* Paths as archives and annotation files write them, with '/' between folders. */
#ifndef INGOT_CODEC_PATH_H
#define INGOT_CODEC_PATH_H

#include "codec/codec.h"

/* Without "." and ".."; false when nothing is left or it leads above the top. */
bool path_clean(struct arena *a, struct str path, struct str *ret);
/* The same of name in dir, into out. */
bool path_join(char *out, size_t cap, struct str dir, struct str name, struct str *ret);
struct str path_dir(struct str path);                      /* without the last part; "" for none */
struct str path_base(struct str path);                     /* the last part */
struct str path_stem(struct str path);                     /* the last part without its ending */
struct str path_bare(struct str path);                     /* all of it without the ending */
bool path_has_ending(struct str path, const char *ending); /* ".json", case ignored */
bool path_ends_with(struct str path, struct str tail);     /* whole folders: "a/b/c.jpg", "b/c.jpg" */
enum codec_split path_split(struct str path);              /* by a folder such as train, val2017 */
enum codec_split
path_file_split(struct str path); /* also by the file's name: test.json, instances_val.json */

bool path_is_part(struct str folder);    /* a name such as train, val2017 */
bool path_only_holds(struct str folder); /* a name that says nothing about what is in it: images, data */
/* Without the folders in front that are one of these two. */
struct str path_core(struct str path);

#endif
