/* Fields of the objects in ingot-model.json, as tables: what reads, writes and describes them. Internal to
 * src/model. */
#ifndef INGOT_MODEL_MANIFEST_FIELDS_H
#define INGOT_MODEL_MANIFEST_FIELDS_H

#include "model/manifest.h"

enum model_field_type {
    MODEL_FIELD_TEXT,   /* struct str */
    MODEL_FIELD_PATH,   /* struct str, the path of a file in the version */
    MODEL_FIELD_ASSET,  /* struct model_asset *, a path */
    MODEL_FIELD_PART,   /* size_t, the name of a part */
    MODEL_FIELD_CHOICE, /* an enum */
    MODEL_FIELD_BOOL,
    MODEL_FIELD_UINT,  /* uint32_t */
    MODEL_FIELD_INT,   /* int32_t */
    MODEL_FIELD_INT64, /* int64_t */
    MODEL_FIELD_REAL,  /* double */
};

struct model_field {
    const char *name;
    enum model_field_type type;
    size_t offset;
    uint32_t count; /* > 1: a list of so many; of reals one number stands for all */
    uint32_t on;    /* bits of the kinds of input or readings of output that have it; 0: all */
    bool required;
    double min, max, otherwise;
    const char *const *choices;
    const char *what; /* for the schema and docs/models.md */
};

struct model_fields {
    const struct model_field *rows;
    size_t n;
};

extern const struct model_fields model_part_fields, model_input_fields, model_output_fields, model_top_fields;

/* What parsing needs at every step. */
struct model_parse {
    struct arena *a;
    struct model_manifest *m;
    struct err *err;
};

/* Sets every field of the object to its default. */
void model_fields_default(const struct model_fields *f, void *object);
/* Reads the object's fields that `on` has (all after the row that tells the kind); keys of `other` (NULL at
 * the end) are someone else's. path is the object's own: "inputs[0]", or "". */
bool model_fields_read(struct model_parse *p, const struct model_fields *f, yyjson_val *v, const char *path,
                       uint32_t on, const char *const *other, void *object);
void model_fields_write(const struct model_manifest *m, const struct model_fields *f, const void *object,
                        uint32_t on, struct json_out *out);
/* "properties" and "required" of the schema. */
void model_fields_schema(const struct model_fields *f, struct json_out *out,
                         const char *const *also_required);

/* One choice by its name; false with the field's path and the choices. */
bool model_choice_read(struct model_parse *p, yyjson_val *v, const char *path, const char *const *choices,
                       uint32_t *ret);
bool model_path_valid(struct str path);
extern const char *const model_reading_names[];

/* Rules that more than one field takes part in; manifest_check.c. */
bool model_manifest_check(struct model_parse *p);

#endif
