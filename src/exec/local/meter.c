/* How busy cards are: as files say that the inventory names, or NVIDIA's library where the driver brought it.
 */
#include "exec/local/own.h"

#include "base/fs.h"
#include "base/json.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <sys/sysmacros.h>

/* --- NVIDIA --- */

struct nvml_rates {
    unsigned gpu, memory; /* percent */
};

struct nvml_memory {
    unsigned long long total, free, used;
};

/* Every function gives 0 when it worked. */
static struct {
    int (*init)(void);
    int (*count)(unsigned *);
    int (*handle)(unsigned, void **);
    int (*number)(void *, unsigned *);
    int (*rates)(void *, struct nvml_rates *);
    int (*memory)(void *, struct nvml_memory *);
    bool ready;
} nvml;

static void nvml_open(void)
{
    const struct {
        const char *name;
        void *at;
    } symbols[] = {
        {"nvmlInit_v2", &nvml.init},
        {"nvmlDeviceGetCount_v2", &nvml.count},
        {"nvmlDeviceGetHandleByIndex_v2", &nvml.handle},
        {"nvmlDeviceGetMinorNumber", &nvml.number},
        {"nvmlDeviceGetUtilizationRates", &nvml.rates},
        {"nvmlDeviceGetMemoryInfo", &nvml.memory},
    };
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL), *symbol = library;
    for (size_t i = 0; symbol && i < countof(symbols); i++) {
        symbol = dlsym(library, symbols[i].name);
        memcpy(symbols[i].at, &symbol, sizeof symbol);
    }
    nvml.ready = symbol && nvml.init() == 0;
}

/* The card's number is the minor number of its device file. */
static bool nvml_read(const char *path, double *ret_busy, int64_t *ret_memory)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct stat st;
    unsigned n = 0, number;
    void *card;
    pthread_once(&once, nvml_open);
    if (!nvml.ready || stat(path, &st) != 0 || nvml.count(&n) != 0)
        return false;
    for (unsigned i = 0; i < n; i++) {
        struct nvml_rates rates = {0};
        struct nvml_memory memory = {0};
        if (nvml.handle(i, &card) != 0 || nvml.number(card, &number) != 0 || number != minor(st.st_rdev))
            continue;
        if (nvml.rates(card, &rates) != 0 || nvml.memory(card, &memory) != 0)
            return false;
        *ret_busy = rates.gpu;
        *ret_memory = (int64_t)memory.used;
        return true;
    }
    return false;
}

/* --- files --- */

static bool number_of(struct arena *a, const char *path, double *ret)
{
    struct str text;
    char *end;
    if (!path || !fs_read(a, path, 4096, &text, NULL))
        return false;
    const char *begin = arena_strz(a, text);
    double value = strtod(begin, &end);
    if (end == begin || !isfinite(value))
        return false;
    *ret = value;
    return true;
}

static yyjson_val *declared(yyjson_val *inventory, struct str path)
{
    size_t i, max;
    yyjson_val *item;
    if (!yyjson_arr_size(inventory))
        return NULL;
    yyjson_arr_foreach(inventory, i, max, item)
    {
        if (str_eq(json_str(yyjson_obj_get(item, "path")), path))
            return item;
    }
    return NULL;
}

/* Not /dev/nvidiactl and the like, which go with every card. */
static bool is_nvidia(const char *path, struct str kind)
{
    static const char prefix[] = "/dev/nvidia";
    uint64_t number;
    return str_starts(kind, "nvidia") || (strncmp(path, prefix, sizeof prefix - 1) == 0 &&
                                          str_to_u64(str_of(path + sizeof prefix - 1), &number));
}

static void read_card(struct arena *a, yyjson_val *item, const char *path, struct exec_stats *s)
{
    struct str kind = json_str(yyjson_obj_get(item, "kind"));
    double busy = -1, memory = -1;
    int64_t bytes = -1;
    bool by_file = number_of(a, yyjson_get_str(yyjson_obj_get(item, "busy")), &busy);
    if (number_of(a, yyjson_get_str(yyjson_obj_get(item, "memory_used")), &memory))
        bytes = (int64_t)memory;
    if (!by_file && is_nvidia(path, kind))
        nvml_read(path, &busy, &bytes);
    if (busy >= 0)
        s->cards_busy = (s->cards_busy < 0 ? 0 : s->cards_busy) + (int64_t)(busy * 10 + 0.5);
    if (bytes >= 0)
        s->cards_memory = (s->cards_memory < 0 ? 0 : s->cards_memory) + bytes;
}

void meter_read(struct local *l, const char *devices, struct exec_stats *s)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct str text, rest = str_of(devices);
    yyjson_val *inventory = NULL;
    s->cards_busy = s->cards_memory = -1;
    if (!rest.n)
        return;
    if (l->inventory && fs_read(&a, l->inventory, 1 << 20, &text, NULL))
        inventory = json_parse(&a, text, NULL);
    while (rest.p && rest.n) {
        struct str path = str_cut(rest, '\n', &rest);
        read_card(&a, declared(inventory, path), arena_strz(&a, path), s);
    }
}
