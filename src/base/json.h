/* JSON. Reading is yyjson's immutable document (json_parse adds our limits: depth, no NaN, valid UTF-8, no
 * duplicate keys in one object). Writing is a small streaming writer into a buf that places the commas. */
#ifndef INGOT_BASE_JSON_H
#define INGOT_BASE_JSON_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#include <yyjson.h>

/* The document's memory belongs to the arena. ERR_MALFORMED with the position on bad input; at most 64
 * levels. */
yyjson_val *json_parse(struct arena *a, struct str text, struct err *err);

struct str json_str(yyjson_val *v); /* STR_NULL when v is no string */

struct json_out {
    struct buf *buf;
    uint64_t first; /* bit per level: nothing written yet there */
    int depth;
};

void json_begin(struct json_out *o, struct buf *buf);
void json_object(struct json_out *o);
void json_object_end(struct json_out *o);
void json_array(struct json_out *o);
void json_array_end(struct json_out *o);
void json_key(struct json_out *o, const char *key); /* then one value */
void json_string(struct json_out *o, struct str s); /* STR_NULL writes null */
void json_z(struct json_out *o, const char *z);     /* NULL writes null */
void json_int(struct json_out *o, int64_t v);
void json_real(struct json_out *o, double v); /* shortest text that reads back; NaN writes null */
void json_bool(struct json_out *o, bool v);
void json_null(struct json_out *o);
void json_raw(struct json_out *o, struct str text); /* text is already JSON */
void json_value(struct json_out *o, yyjson_val *v); /* copies a parsed value */
/* key and value in one */
void json_kz(struct json_out *o, const char *key, const char *z);
void json_kstr(struct json_out *o, const char *key, struct str s);
void json_kint(struct json_out *o, const char *key, int64_t v);
void json_kbool(struct json_out *o, const char *key, bool v);

#endif
