#include "infer/ort.h"

#include "base/arena.h"
#include "base/log.h"

#include <dlfcn.h>
#include <stdio.h>

static struct {
    void *library;
    const OrtApi *api;
    OrtEnv *env;
    OrtMemoryInfo *memory;
    const char *version;
} ort;

const OrtApi *ort_api(void)
{
    return ort.api;
}

OrtEnv *ort_env(void)
{
    return ort.env;
}

const OrtMemoryInfo *ort_memory(void)
{
    return ort.memory;
}

const char *ort_version(void)
{
    return ort.version;
}

bool ort_ok(OrtStatus *s, enum err_code code, struct err *err)
{
    if (!s)
        return true;
    OrtErrorCode said = ort.api->GetErrorCode(s);
    if (said == ORT_INVALID_ARGUMENT || said == ORT_INVALID_GRAPH || said == ORT_INVALID_PROTOBUF ||
        said == ORT_NOT_IMPLEMENTED)
        code = ERR_INVALID;
    err_set(err, code, NULL, "%s", ort.api->GetErrorMessage(s));
    ort.api->ReleaseStatus(s);
    return false;
}

/* The folder of the program's file. Not of /proc/self/exe: in foreign images that is the loader, which was
 * given the program as an argument. */
static bool program_folder(struct arena *a, const char **ret)
{
    auto_free char *line = NULL;
    size_t cap = 0;
    uintptr_t self = (uintptr_t)ort_api;
    bool found = false;
    FILE *f = fopen("/proc/self/maps", "re");
    while (f && !found && getline(&line, &cap, f) > 0) {
        char *at, *slash = strchr(line, '/'), *last = strrchr(line, '/');
        uintptr_t from = strtoull(line, &at, 16), to = strtoull(at + (*at == '-'), NULL, 16);
        found = slash && self >= from && self < to;
        if (found)
            *ret = arena_strz(a, (struct str){slash, last > slash ? (size_t)(last - slash) : 1});
    }
    if (f)
        fclose(f);
    return found;
}

static bool load(const char *path, struct err *err)
{
    static const char *const places[] = {"/lib/" ORT_LIBRARY, "/../lib/" ORT_LIBRARY, "/" ORT_LIBRARY};
    auto_arena struct arena a;
    const char *folder;
    arena_init(&a);
    if (!path && program_folder(&a, &folder))
        for (size_t i = 0; i < countof(places) && !path; i++) {
            const char *candidate = arena_printf(&a, "%s%s", folder, places[i]);
            if (access(candidate, R_OK) == 0)
                path = candidate;
        }
    ort.library = dlopen(path ? path : ORT_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    return ort.library || err_set(err, ERR_INTERNAL, NULL, "ONNX Runtime cannot be loaded: %s", dlerror());
}

static bool take_api(struct err *err)
{
    const OrtApiBase *(*base)(void) = (const OrtApiBase *(*)(void))dlsym(ort.library, "OrtGetApiBase");
    if (!base)
        return err_set(err, ERR_INTERNAL, NULL, "the library has no OrtGetApiBase: %s", dlerror());
    ort.version = base()->GetVersionString();
    ort.api = base()->GetApi(ORT_API_VERSION);
    return ort.api || err_set(err, ERR_INTERNAL, NULL, "ONNX Runtime %s has no API of version %d",
                              ort.version, ORT_API_VERSION);
}

/* What the runtime has to say; the models' files are people's, so its warnings are none of ours. */
static void ORT_API_CALL tell(unused_ok void *ctx, OrtLoggingLevel level, unused_ok const char *category,
                              unused_ok const char *id, unused_ok const char *where, const char *message)
{
    log_write(level >= ORT_LOGGING_LEVEL_ERROR ? LOG_WARN : LOG_DEBUG, "onnxruntime: %.1000s", message);
}

bool ort_start(const char *path, unsigned threads, struct err *err)
{
    OrtThreadingOptions *o = NULL;
    if (!load(path, err) || !take_api(err))
        return false;
    bool ok = ort_ok(ort.api->CreateThreadingOptions(&o), ERR_INTERNAL, err) &&
              ort_ok(ort.api->SetGlobalIntraOpNumThreads(o, (int)threads), ERR_INTERNAL, err) &&
              ort_ok(ort.api->SetGlobalInterOpNumThreads(o, 1), ERR_INTERNAL, err) &&
              ort_ok(ort.api->SetGlobalSpinControl(o, 0), ERR_INTERNAL, err) &&
              ort_ok(ort.api->CreateEnvWithCustomLoggerAndGlobalThreadPools(
                         tell, NULL, ORT_LOGGING_LEVEL_WARNING, "ingot-infer", o, &ort.env),
                     ERR_INTERNAL, err) &&
              ort_ok(ort.api->DisableTelemetryEvents(ort.env), ERR_INTERNAL, err) &&
              ort_ok(ort.api->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &ort.memory),
                     ERR_INTERNAL, err);
    if (o)
        ort.api->ReleaseThreadingOptions(o);
    return ok;
}

void ort_stop(void)
{
    if (ort.memory)
        ort.api->ReleaseMemoryInfo(ort.memory);
    if (ort.env)
        ort.api->ReleaseEnv(ort.env);
    ort.memory = NULL;
    ort.env = NULL; /* the library stays loaded: its threads' last steps are its own */
}
