/* The recipes that come with the platform. Bytes and minutes are measured (docs/runtimes.md). */
#include "base/clock.h"
#include "base/json.h"
#include "base/messages_runtime.h"
#include "core/runtime/runtime_own.h"

#define LIST 16

static const struct recipe {
    const char *name;
    struct words title, description;
    const char *packages[LIST], *python[LIST]; /* NULL ends them */
    const char *modules[LIST];                 /* of Python, that code for it imports */
    int64_t bytes;
    double minutes;
} recipes[] = {
    {"pytorch",
     {"PyTorch", "PyTorch"},
     {"PyTorch and torchvision for CPUs, ONNX, scikit-learn, NumPy, Pillow and soundfile, all of Debian",
      "Debian 的 PyTorch 与 torchvision（CPU）、ONNX、scikit-learn、NumPy、Pillow 和 soundfile"},
     {"python3", "python3-torch", "python3-torchvision", "python3-onnx", "python3-numpy", "python3-pil",
      "libopenblas0", "python3-sklearn", "python3-soundfile", "python3-pip"},
     {NULL},
     {"torch", "torchvision", "onnx", "numpy", "PIL", "sklearn", "scipy", "joblib", "soundfile"},
     404000000,
     13},
    {"sklearn",
     {"scikit-learn, XGBoost, LightGBM", "scikit-learn、XGBoost、LightGBM"},
     {"Learning from tables: scikit-learn, XGBoost, LightGBM, pandas, and export to ONNX",
      "表格数据的学习：scikit-learn、XGBoost、LightGBM、pandas，可导出为 ONNX"},
     {"python3", "libgomp1"},
     {"scikit-learn==1.9.1", "xgboost-cpu==3.2.0", "lightgbm==4.7.0", "numpy==2.4.6", "pandas==3.1.1",
      "onnx==1.23.2", "skl2onnx==1.20.0"},
     {"sklearn", "xgboost", "lightgbm", "pandas", "skl2onnx", "scipy", "joblib", "numpy", "onnx"},
     146000000,
     13},
};

const char *runtime_of_module(struct str module)
{
    struct str rest, top = str_cut(module, '.', &rest);
    for (size_t i = 0; i < countof(recipes); i++)
        for (size_t k = 0; k < LIST && recipes[i].modules[k]; k++)
            if (str_is(top, recipes[i].modules[k]))
                return recipes[i].name;
    return NULL;
}

static void write_list(const char *const list[LIST], struct buf *out)
{
    struct json_out o;
    json_begin(&o, out);
    json_array(&o);
    for (size_t i = 0; i < LIST && list[i]; i++)
        json_z(&o, list[i]);
    json_array_end(&o);
}

static bool make_one(struct db_conn *c, const struct recipe *r, struct err *err)
{
    auto_buf struct buf packages = {0}, python = {0};
    const int64_t now = clock_now();
    write_list(r->packages, &packages);
    write_list(r->python, &python);
    return conn_exec(
        c,
        "INSERT INTO runtimes(name, title, title_zh, description, description_zh, packages, python, bytes,"
        " minutes, state, built_in, revision, created_at, updated_at)"
        " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, 'missing', 1, 1, ?, ?) ON CONFLICT(name) DO UPDATE SET"
        " title = excluded.title, title_zh = excluded.title_zh, description = excluded.description,"
        " description_zh = excluded.description_zh, packages = excluded.packages, python = excluded.python,"
        " bytes = excluded.bytes, minutes = excluded.minutes, built_in = 1"
        " WHERE runtimes.packages <> excluded.packages OR runtimes.python <> excluded.python"
        " OR runtimes.bytes <> excluded.bytes OR runtimes.description <> excluded.description"
        " OR runtimes.description_zh <> excluded.description_zh OR runtimes.built_in = 0",
        db_args(db_textz(r->name), db_textz(r->title.en), db_textz(r->title.zh), db_textz(r->description.en),
                db_textz(r->description.zh), db_text(buf_view(&packages)), db_text(buf_view(&python)),
                db_int(r->bytes), db_real(r->minutes), db_int(now), db_int(now)),
        NULL, err);
}

static bool make_all(struct db_conn *c, void *ctx, struct err *err)
{
    (void)ctx;
    for (size_t i = 0; i < countof(recipes); i++)
        if (!make_one(c, &recipes[i], err))
            return false;
    return true;
}

bool runtime_make_built_in(struct core *core, struct err *err)
{
    return db_write(core->db, make_all, NULL, err);
}

const char *runtime_image(struct core *core, struct str name, struct arena *a, struct err *err)
{
    struct db_row row;
    bool found;
    if (!db_query_one(core->db, a, "SELECT state, image FROM runtimes WHERE name = ?", db_args(db_text(name)),
                      &row, &found, err))
        return NULL;
    if (!found)
        return err_message(err, ERR_CONFLICT, "runtime", MESSAGE_RUNTIME_UNKNOWN, STR_ARG(name)), NULL;
    if (row.v[1].type == DB_TEXT && row.v[1].s.n)
        return arena_strz(a, row.v[1].s);
    if (str_is(row.v[0].s, "building"))
        return err_message(err, ERR_CONFLICT, "runtime", MESSAGE_RUNTIME_BUILDING, STR_ARG(name)), NULL;
    return err_message(err, ERR_CONFLICT, "runtime", MESSAGE_RUNTIME_MISSING, STR_ARG(name), STR_ARG(name)),
           NULL;
}
