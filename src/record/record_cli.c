#include "record_cli.h"

#include "record_cli_internal.h"
#include "record_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

static const char usage[] =
    "usage: %s info PATH [--json]\n"
    "       %s cat PATH [--limit N] [--base64]          every record as a line of JSON\n"
    "       %s cat PATH NUMBER [--field NAME]           one record, or the bytes of one field\n"
    "       %s cat PATH --key KEY [--field NAME]\n"
    "       %s verify PATH [--quiet]\n"
    "       %s convert SOURCE TARGET [--schema FILE] [--shard-bytes SIZE] [--shard-records N] [--overwrite]\n"
    "            SOURCE: a folder, a .tar or a .jsonl file; TARGET: folder and name of the record files\n"
    "       %s convert PATH FOLDER [--field NAME]       writes the field of each record to a file\n"
    "PATH is one .irec file or folder and name of a set. SIZE may end in K, M or G.\n";

static int print_usage(FILE *out, const char *me)
{
    fprintf(out, usage, me, me, me, me, me, me, me);
    return out == stdout ? 0 : 2;
}

/* ---- info ------------------------------------------------------------------------------------------------
 */

static void print_field(const struct record_schema *s, size_t i)
{
    const struct record_field *f = record_schema_field(s, i);
    printf("  %-20s %s", f->name, record_type_name(f->type));
    if (f->type == RECORD_ARRAY) {
        printf(" %s [", record_dtype_name(f->dtype));
        for (unsigned d = 0; d < f->ndim; d++)
            printf("%s%" PRId64, d ? ", " : "", f->shape[d]);
        printf("]");
    }
    printf("%s\n", (int)i == record_schema_key(s) ? " (key)" : "");
}

static bool run_info(const struct record_args *a, struct record_err *err)
{
    struct record_reader *r = record_reader_open(a->path[0], 0, err);
    struct record_summary sum;
    if (!r)
        return false;
    record_reader_summary(r, &sum);
    const struct record_schema *s = record_reader_schema(r);
    if (a->json) {
        printf("{\"version\":%d,\"records\":%" PRIu64 ",\"shards\":%" PRIu32 ",\"bytes\":%" PRIu64
               ",\"set_id\":\"%016" PRIx64 "\",\"schema\":%s}\n",
               RECORD_VERSION, sum.records, sum.shards, sum.bytes, sum.set_id, record_schema_json(s, NULL));
    } else {
        printf("version  %d\nrecords  %" PRIu64 "\nshards   %" PRIu32 "\nbytes    %" PRIu64
               "\nset id   %016" PRIx64 "\nfields\n",
               RECORD_VERSION, sum.records, sum.shards, sum.bytes, sum.set_id);
        for (size_t i = 0; i < record_schema_count(s); i++)
            print_field(s, i);
    }
    record_reader_free(r);
    return true;
}

/* ---- cat -------------------------------------------------------------------------------------------------
 */

static bool parse_number(const char *text, uint64_t *ret)
{
    char *end;
    errno = 0;
    if (*text < '0' || *text > '9')
        return false;
    unsigned long long v = strtoull(text, &end, 10);
    *ret = v;
    return !errno && !*end;
}

static bool print_field_bytes(const struct record_schema *s, const struct record *rec, const char *name,
                              struct record_err *err)
{
    struct record_value v;
    int field = record_schema_find(s, name);
    if (field < 0)
        return record_fail(err, RECORD_E_ARG, "--field %.100s: the schema has no such field", name);
    if (!record_get(rec, (size_t)field, &v, err))
        return false;
    if (!v.data)
        return record_fail(err, RECORD_E_NOT_FOUND, "field \"%.100s\" is absent in this record", name);
    fwrite(v.data, 1, v.size, stdout);
    return true;
}

static bool cat_one(struct record_reader *r, const struct record_args *a, uint64_t i, struct record_err *err)
{
    const struct record_schema *s = record_reader_schema(r);
    struct record rec;
    if (!record_reader_get(r, i, &rec, err))
        return false;
    if (a->field)
        return print_field_bytes(s, &rec, a->field, err);
    return record_print_json(stdout, s, &rec, a->base64, err);
}

static bool cat(struct record_reader *r, const struct record_args *a, struct record_err *err)
{
    uint64_t i;
    if (a->key)
        return record_reader_find(r, a->key, strlen(a->key), &i, err) && cat_one(r, a, i, err);
    if (a->paths == 2) {
        if (!parse_number(a->path[1], &i))
            return record_fail(err, RECORD_E_ARG, "\"%.100s\" is not the number of a record", a->path[1]);
        return cat_one(r, a, i, err);
    }
    if (a->field)
        return record_fail(err, RECORD_E_ARG, "--field needs the number or --key of one record");
    for (i = 0; i < record_reader_count(r) && i < a->limit; i++)
        if (!cat_one(r, a, i, err))
            return false;
    return true;
}

static bool run_cat(const struct record_args *a, struct record_err *err)
{
    struct record_reader *r = record_reader_open(a->path[0], RECORD_VERIFY, err);
    bool ok = r && cat(r, a, err);
    record_reader_free(r);
    return ok;
}

/* ---- verify ----------------------------------------------------------------------------------------------
 */

static void print_fault(void *ctx, const char *file, uint64_t record, const char *message)
{
    (void)file, (void)record;
    uint64_t *faults = ctx;
    if (++*faults <= 1000)
        fprintf(stderr, "%s\n", message);
}

static bool run_verify(const struct record_args *a, struct record_err *err)
{
    uint64_t faults = 0;
    struct record_err first;
    if (!record_verify(a->path[0], print_fault, &faults, &first))
        return record_fail(err, RECORD_E_CORRUPT, "%.300s: %" PRIu64 " fault%s", a->path[0], faults,
                           faults == 1 ? "" : "s");
    if (!a->quiet)
        printf("%s: every byte is as it was written\n", a->path[0]);
    return true;
}

/* ---- the commands ----------------------------------------------------------------------------------------
 */

static const struct {
    const char *name;
    int min_paths, max_paths;
    bool (*run)(const struct record_args *a, struct record_err *err);
    const char *options; /* names separated by spaces */
} verbs[] = {
    {"info", 1, 1, run_info, "--json"},
    {"cat", 1, 2, run_cat, "--limit --base64 --field --key"},
    {"verify", 1, 1, run_verify, "--quiet"},
    {"convert", 2, 2, record_convert_run, "--schema --shard-bytes --shard-records --overwrite --field"},
};

static bool parse_size(const char *text, uint64_t *ret)
{
    static const char units[] = "KMG";
    char digits[24];
    size_t n = strlen(text);
    const char *unit = n ? strchr(units, text[n - 1]) : NULL;
    uint64_t v, factor = unit ? (uint64_t)1 << 10 * (unit - units + 1) : 1;
    if (!n || n >= sizeof digits)
        return false;
    memcpy(digits, text, n + 1);
    if (unit)
        digits[n - 1] = 0;
    if (!parse_number(digits, &v) || v == 0 || v > UINT64_MAX / factor)
        return false;
    *ret = v * factor;
    return true;
}

enum kind { FLAG, TEXT, SIZE };

static const struct {
    const char *name;
    enum kind kind;
    size_t place;
} options[] = {
    {"--json", FLAG, offsetof(struct record_args, json)},
    {"--base64", FLAG, offsetof(struct record_args, base64)},
    {"--overwrite", FLAG, offsetof(struct record_args, overwrite)},
    {"--quiet", FLAG, offsetof(struct record_args, quiet)},
    {"--field", TEXT, offsetof(struct record_args, field)},
    {"--key", TEXT, offsetof(struct record_args, key)},
    {"--schema", TEXT, offsetof(struct record_args, schema)},
    {"--limit", SIZE, offsetof(struct record_args, limit)},
    {"--shard-bytes", SIZE, offsetof(struct record_args, shard_bytes)},
    {"--shard-records", SIZE, offsetof(struct record_args, shard_records)},
};

static bool allowed(const char *list, const char *name)
{
    const char *at = list;
    size_t n = strlen(name);
    while ((at = strstr(at, name))) {
        if (at[n] == 0 || at[n] == ' ')
            return true;
        at += n;
    }
    return false;
}

/* Takes the option at argv[*i] and its value. */
static bool parse_option(struct record_args *a, const char *list, int argc, char **argv, int *i,
                         struct record_err *err)
{
    const char *name = argv[*i];
    for (size_t k = 0; allowed(list, name) && k < sizeof options / sizeof *options; k++) {
        char *place = (char *)a + options[k].place;
        if (strcmp(options[k].name, name) != 0)
            continue;
        if (options[k].kind == FLAG) {
            *(bool *)place = true;
            return true;
        }
        if (*i + 1 == argc)
            return record_fail(err, RECORD_E_ARG, "%s needs a value", name);
        const char *value = argv[++*i];
        if (options[k].kind == TEXT) {
            *(const char **)place = value;
            return true;
        }
        return parse_size(value, (uint64_t *)place) ||
               record_fail(err, RECORD_E_ARG, "%s \"%.100s\": a positive number is needed", name, value);
    }
    return record_fail(err, RECORD_E_ARG, "unknown option %.100s", name);
}

static bool parse_args(struct record_args *a, const char *list, int argc, char **argv, struct record_err *err)
{
    bool options_end = false;
    for (int i = 2; i < argc; i++) {
        if (!options_end && strcmp(argv[i], "--") == 0) {
            options_end = true;
        } else if (!options_end && argv[i][0] == '-' && argv[i][1]) {
            if (!parse_option(a, list, argc, argv, &i, err))
                return false;
        } else if (a->paths == 2) {
            return record_fail(err, RECORD_E_ARG, "one argument too many: %.100s", argv[i]);
        } else {
            a->path[a->paths++] = argv[i];
        }
    }
    return true;
}

int record_cli(int argc, char **argv)
{
    struct record_args a = {.limit = UINT64_MAX};
    struct record_err err;
    size_t v = 0, n = sizeof verbs / sizeof *verbs;
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0))
        return print_usage(stdout, argv[0]);
    while (v < n && (argc < 2 || strcmp(argv[1], verbs[v].name) != 0))
        v++;
    if (v == n)
        return print_usage(stderr, argv[0]);
    if (!parse_args(&a, verbs[v].options, argc, argv, &err)) {
        fprintf(stderr, "%s %s: %s\n", argv[0], argv[1], err.message);
        return 2;
    }
    if (a.paths < verbs[v].min_paths || a.paths > verbs[v].max_paths)
        return print_usage(stderr, argv[0]);
    bool ok = verbs[v].run(&a, &err);
    if (fflush(stdout) != 0 || ferror(stdout))
        ok = ok && record_fail_errno(&err, "standard output");
    if (!ok)
        fprintf(stderr, "%s %s: %s\n", argv[0], argv[1], err.message);
    return ok ? 0 : 1;
}
