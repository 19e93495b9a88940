/* Looking into a version's record files where they are stored (core/data/records.h): one file, mapped, with
 * the record library's reader over it. */
#ifndef INGOT_CORE_DATA_RECORD_VIEW_H
#define INGOT_CORE_DATA_RECORD_VIEW_H

#include "core/data/records.h"
#include "record/record.h"

struct record_view {
    struct record_reader *reader;
    uint64_t first; /* the number of the file's first record in the whole set */
    const void *map;
    size_t size;
    int fd; /* of the file; a caller that takes it puts -1 here */
};

#define RECORD_VIEW_NONE ((struct record_view){.fd = -1})

/* A file of the version by its name. ERR_NOT_FOUND; ERR_CONFLICT when it is damaged. */
bool record_view_open(struct core *core, struct arena *a, const struct object *version, struct str name,
                      struct record_view *ret, struct err *err);
/* Only the bytes, for a check: reader is NULL, damage is no failure. */
bool record_view_map(struct core *core, struct arena *a, const struct object *version, struct str name,
                     struct record_view *ret, struct err *err);
void record_view_close(struct record_view *v);

/* The media type that the first bytes of a value say, or application/octet-stream. */
const char *record_view_type(const struct record_value *v);

#endif
