/* The manifest of an algorithm version, its file ingot-algorithm.json: which functions the code has, how each
 * is run and which parameters it takes. docs/algorithms.md describes every field for users. Parsing follows
 * the tables of fields that manifests of models follow too (manifest_fields.h). Pure: no file is opened here.
 * Everything lives in the arena given. */
#ifndef INGOT_MODEL_ALGORITHM_H
#define INGOT_MODEL_ALGORITHM_H

#include "base/json.h"
#include "codec/annotation.h"

#define ALGORITHM_FILE "ingot-algorithm.json"

/* Limits. */
#define ALGORITHM_MAX_BYTES      (256u << 10)
#define ALGORITHM_MAX_PARAMETERS 200
#define ALGORITHM_MAX_CHOICES    100
#define ALGORITHM_MAX_TEXT       2000       /* characters of a value */
#define ALGORITHM_MAX_LABELS     10000      /* of a value */
#define ALGORITHM_MAX_VALUES     (64 << 10) /* bytes of all values together: they go into a variable */

enum algorithm_type {
    ALGORITHM_INT,
    ALGORITHM_REAL,
    ALGORITHM_BOOL,
    ALGORITHM_CHOICE,
    ALGORITHM_TEXT,
    ALGORITHM_LABELS, /* a list of labels */
    ALGORITHM_JSON,
};
extern const char *const algorithm_type_names[];

struct algorithm_text {
    struct str en, zh;
};

struct algorithm_parameter {
    struct str name;
    enum algorithm_type type;
    yyjson_val *otherwise; /* the default; NULL: it must be given */
    double min, max;       /* NAN: none */
    bool log;              /* its size counts, not its distance: for forms and searches */
    bool advanced;         /* folded away in forms */
    yyjson_val *choices;
    struct algorithm_text title, help;
};

enum algorithm_function_name {
    ALGORITHM_TRAIN,
    ALGORITHM_TEST,
    ALGORITHM_BATCH,
    ALGORITHM_SERVE,
    ALGORITHM_SDK,
    ALGORITHM_FUNCTION_COUNT,
};
extern const char *const algorithm_function_names[];

/* What a function cannot do without, and what it leaves. */
enum algorithm_input { ALGORITHM_DATASET, ALGORITHM_BASE_MODEL, ALGORITHM_INPUT_COUNT };
enum algorithm_output { ALGORITHM_MODEL, ALGORITHM_METRICS, ALGORITHM_OUTPUT_COUNT };
extern const char *const algorithm_input_names[], *const algorithm_output_names[];

struct algorithm_function {
    bool there;
    struct str runtime; /* "" or "host": this machine's own programs */
    struct str image;   /* in place of a runtime */
    struct str command;
    uint32_t types;           /* bits of enum annotation_type; 0: any data */
    uint32_t inputs, outputs; /* bits of the enums above */
    struct algorithm_parameter *parameters;
    size_t n_parameters;
};

struct algorithm {
    struct algorithm_text title;
    struct algorithm_function functions[ALGORITHM_FUNCTION_COUNT];
};

/* ERR_INVALID with the field's path and the rule. */
bool algorithm_parse(struct arena *a, struct str text, struct algorithm *ret, struct err *err);
/* The text of a manifest that reads as the same. */
void algorithm_write(const struct algorithm *m, struct json_out *out);
/* The keys runtime, image, command, types, inputs, outputs and parameters of an object that the caller began.
 */
void algorithm_function_write(const struct algorithm_function *f, struct json_out *out);

/* Values for a run (algorithm_values.c). given is an object or NULL. Each is checked against its parameter;
 * names that there are not are refused. With `fill` the text has all parameters in their order, those that
 * were not given with their defaults, and it is an error when one without a default is not given; without, it
 * has what was given. Labels that are merged through others (a to b, b to c) come out as what they end as. */
bool algorithm_values(struct arena *a, const struct algorithm_function *f, yyjson_val *given, bool fill,
                      struct str *ret, struct err *err);
/* One value; path is told in the error. */
bool algorithm_value_check(struct arena *a, const struct algorithm_parameter *p, yyjson_val *v,
                           const char *path, struct err *err);
/* What becomes of labels: `leave_out` is a list of them, `merge` an object of old and new labels; NULL: none.
 * Refused: merging in a circle, into or from a label that is left out. */
bool algorithm_labels_check(struct arena *a, yyjson_val *leave_out, yyjson_val *merge, const char *leave_path,
                            const char *merge_path, struct err *err);
/* What the label ends as by a `merge` that was checked; itself when it is not merged. */
struct str algorithm_merged(yyjson_val *merge, struct str label);

#endif
