/* The parts of a multipart/form-data body, without copies. */
#ifndef INGOT_INFER_MULTIPART_H
#define INGOT_INFER_MULTIPART_H

#include "base/arena.h"
#include "base/err.h"

#define MULTIPART_MAX_PARTS  256
#define MULTIPART_MAX_HEADER ((size_t)8 << 10) /* of one part */

struct multipart_part {
    struct str name, filename; /* STR_NULL when not given */
    struct str media_type;     /* empty when not given */
    struct str bytes;
};

/* The boundary of a Content-Type; false when it is no multipart/form-data or has none of 1 to 70 bytes. */
bool multipart_boundary(struct str content_type, struct str *ret);
/* The list is in the arena, its texts in the body. ERR_MALFORMED when it does not end as it must. */
bool multipart_parse(struct arena *a, struct str body, struct str boundary, struct multipart_part **ret,
                     size_t *ret_n, struct err *err);

#endif
