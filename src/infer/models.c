#include "infer/models.h"

#include "base/thread.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#define MAX_MODELS   1024
#define MAX_VERSIONS 64

/* Where versions of a model come from; its texts are in the arena of the models. */
struct source {
    const char *name, *path, *version;
    char reason[256]; /* why it is not served */
    bool unloaded;
};

struct models {
    struct served_options o;
    struct arena arena;      /* of the sources' texts */
    pthread_mutex_t loading; /* one load at a time: they take memory */
    pthread_mutex_t lock;    /* of what follows */
    struct source *sources;
    size_t n_sources;
    const char *folder;
    struct served **list;
    size_t n;
    /* Those that nobody has any more; their threads are ended by the thread of this one. */
    struct served *gone;
    pthread_cond_t more;
    bool ending;
    pthread_t reaper;
};

/* --- the end of a model --- */

static void *reap(void *arg)
{
    struct models *m = arg;
    pthread_mutex_lock(&m->lock);
    while (m->gone || !m->ending) {
        struct served *s = m->gone;
        if (!s) {
            pthread_cond_wait(&m->more, &m->lock);
            continue;
        }
        m->gone = s->next_gone;
        pthread_mutex_unlock(&m->lock);
        served_free(s);
        pthread_mutex_lock(&m->lock);
    }
    pthread_mutex_unlock(&m->lock);
    return NULL;
}

void models_drop(struct models *m, struct served *s)
{
    if (!s || atomic_fetch_sub(&s->refs, 1) != 1)
        return;
    pthread_mutex_lock(&m->lock);
    s->next_gone = m->gone;
    m->gone = s;
    pthread_cond_signal(&m->more);
    pthread_mutex_unlock(&m->lock);
}

struct models *models_new(const struct served_options *o)
{
    struct models *m = base_zalloc(sizeof *m);
    m->o = *o;
    arena_init(&m->arena);
    m->sources = base_zalloc(MAX_MODELS * sizeof *m->sources);
    m->list = base_zalloc(MAX_MODELS * sizeof(struct served *));
    pthread_mutex_init(&m->loading, NULL);
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->more, NULL);
    m->reaper = thread_start("models", reap, m);
    return m;
}

void models_free(struct models *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->n; i++)
        models_drop(m, m->list[i]);
    pthread_mutex_lock(&m->lock);
    m->ending = true;
    pthread_cond_signal(&m->more);
    pthread_mutex_unlock(&m->lock);
    pthread_join(m->reaper, NULL);
    pthread_cond_destroy(&m->more);
    pthread_mutex_destroy(&m->lock);
    pthread_mutex_destroy(&m->loading);
    arena_release(&m->arena);
    free(m->sources);
    free(m->list);
    free(m);
}

/* --- sources --- */

/* A segment of the address, and of the folder's path. */
static bool good_name(struct str name)
{
    if (name.n < 1 || name.n > 128 || name.p[0] == '.')
        return false;
    for (size_t i = 0; i < name.n; i++)
        if ((unsigned char)name.p[i] <= ' ' || name.p[i] == '/' || name.p[i] == 127)
            return false;
    return utf8_valid(name);
}

static bool good_version(struct str v)
{
    uint64_t n;
    return str_to_u64(v, &n) && n > 0 && n <= INT64_MAX && v.p[0] != '0';
}

bool models_add(struct models *m, const char *name, const char *path, const char *version, struct err *err)
{
    bool ok = true;
    if (!good_name(str_of(name)))
        return err_set(err, ERR_INVALID, "name",
                       "\"%.60s\" cannot be a model's name: 1 to 128 characters without spaces and /", name);
    if (version && !good_version(str_of(version)))
        return err_set(err, ERR_INVALID, "version", "the version \"%.60s\" must be a whole number from 1",
                       version);
    pthread_mutex_lock(&m->lock);
    if (m->n_sources == MAX_MODELS)
        ok = err_set(err, ERR_INVALID, "name", "at most %d models are served", MAX_MODELS);
    else
        m->sources[m->n_sources++] =
            (struct source){arena_strdup(&m->arena, name), arena_strdup(&m->arena, path),
                            arena_strdup(&m->arena, version), "", false};
    pthread_mutex_unlock(&m->lock);
    return ok;
}

static bool known(const struct models *m, struct str name)
{
    for (size_t i = 0; i < m->n_sources; i++)
        if (str_is(name, m->sources[i].name))
            return true;
    return false;
}

/* A folder of --models that came later. */
static void discover(struct models *m, struct str name)
{
    struct stat st;
    if (!m->folder || !good_name(name) || known(m, name))
        return;
    auto_free char *path = NULL;
    if (asprintf(&path, "%s/" STR_FMT, m->folder, STR_ARG(name)) > 0 && stat(path, &st) == 0 &&
        S_ISDIR(st.st_mode)) {
        char text[256];
        snprintf(text, sizeof text, STR_FMT, STR_ARG(name));
        models_add(m, text, path, NULL, &(struct err){0});
    }
}

void models_folder(struct models *m, const char *path)
{
    m->folder = arena_strdup(&m->arena, path);
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));)
        discover(m, str_of(e->d_name));
    if (d)
        closedir(d);
}

/* --- loading --- */

struct loading {
    struct served *list[MAX_VERSIONS];
    size_t n;
};

static bool load_version(struct models *m, struct loading *l, const char *name, const char *version,
                         const char *path, struct err *err)
{
    if (l->n == MAX_VERSIONS)
        return err_set(err, ERR_INVALID, "version", "%s has more than %d versions", name, MAX_VERSIONS);
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->list[i]->version, version) == 0)
            return err_set(err, ERR_INVALID, "version", "%s has version %s twice", name, version);
    struct served *s = served_load(name, version, path, &m->o, err);
    if (s)
        l->list[l->n++] = s;
    return s != NULL;
}

/* A folder without a model of its own has folders of versions; false: it has none. */
static bool load_versions(struct models *m, struct loading *l, const char *name, const char *path, bool *ret,
                          struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    bool any = false, own = access(arena_printf(&a, "%s/" MODEL_MANIFEST_FILE, path), F_OK) == 0 ||
                            access(arena_printf(&a, "%s/" SERVED_FILE, path), F_OK) == 0;
    DIR *d = own ? NULL : opendir(path);
    *ret = true;
    for (struct dirent *e; d && *ret && (e = readdir(d));)
        if (good_version(str_of(e->d_name))) {
            any = true;
            *ret = load_version(m, l, name, e->d_name, arena_printf(&a, "%s/%s", path, e->d_name), err);
        }
    if (d)
        closedir(d);
    return any;
}

static bool load_source(struct models *m, struct loading *l, const struct source *s, struct err *err)
{
    bool ok;
    if (!s->version && load_versions(m, l, s->name, s->path, &ok, err))
        return ok;
    return load_version(m, l, s->name, s->version ? s->version : "1", s->path, err);
}

static int by_name(const void *a, const void *b)
{
    const struct served *x = *(struct served *const *)a, *y = *(struct served *const *)b;
    int order = strcmp(x->name, y->name);
    long long vx = strtoll(x->version, NULL, 10), vy = strtoll(y->version, NULL, 10);
    return order ? order : vx < vy ? -1 : vx > vy;
}

/* Takes the name's versions out and puts others in their place; true when they fit in. The ones to be dropped
 * are left in l. */
static bool swap(struct models *m, struct str name, struct loading *l)
{
    struct loading out = {.n = 0};
    size_t kept = 0, own = 0;
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < m->n; i++)
        own += str_is(name, m->list[i]->name);
    bool ok = m->n - own + l->n <= MAX_MODELS;
    for (size_t i = 0; ok && i < m->n; i++) {
        if (str_is(name, m->list[i]->name))
            out.list[out.n++] = m->list[i];
        else
            m->list[kept++] = m->list[i];
    }
    if (ok) {
        for (size_t i = 0; i < l->n; i++)
            m->list[kept++] = l->list[i];
        m->n = kept;
        qsort(m->list, m->n, sizeof(struct served *), by_name);
        *l = out;
    }
    pthread_mutex_unlock(&m->lock);
    return ok;
}

static void note(struct models *m, struct str name, const char *reason, bool unloaded)
{
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < m->n_sources; i++)
        if (str_is(name, m->sources[i].name)) {
            snprintf(m->sources[i].reason, sizeof m->sources[i].reason, "%s", reason);
            m->sources[i].unloaded = unloaded;
        }
    pthread_mutex_unlock(&m->lock);
}

static bool load_all_of(struct models *m, struct str name, struct loading *l, struct err *err)
{
    bool any = false;
    /* Sources are only ever added, and `loading` is held: what is read here stays. */
    for (size_t i = 0; i < m->n_sources; i++) {
        if (!str_is(name, m->sources[i].name))
            continue;
        any = true;
        if (!load_source(m, l, &m->sources[i], err))
            return false;
    }
    return any || err_set(err, ERR_NOT_FOUND, NULL, "there is no model " STR_FMT, STR_ARG(name));
}

bool models_load(struct models *m, struct str name, struct err *err)
{
    struct loading l = {.n = 0};
    pthread_mutex_lock(&m->loading);
    discover(m, name);
    bool ok = load_all_of(m, name, &l, err);
    if (ok && !swap(m, name, &l))
        ok = err_set(err, ERR_INVALID, NULL, "at most %d models are served", MAX_MODELS);
    note(m, name, ok ? "" : err->message, false);
    pthread_mutex_unlock(&m->loading);
    for (size_t i = 0; i < l.n; i++)
        models_drop(m, l.list[i]);
    return ok;
}

bool models_load_all(struct models *m, struct err *err)
{
    bool ok = true;
    for (size_t i = 0; i < m->n_sources; i++) {
        struct err one = {0};
        bool again = m->sources[i].unloaded;
        for (size_t k = 0; k < i; k++)
            again |= strcmp(m->sources[k].name, m->sources[i].name) == 0;
        if (!again && !models_load(m, str_of(m->sources[i].name), &one))
            ok = err_keep(err, &one);
    }
    return ok;
}

bool models_unload(struct models *m, struct str name, struct err *err)
{
    struct loading l = {.n = 0};
    pthread_mutex_lock(&m->loading);
    swap(m, name, &l);
    if (l.n)
        note(m, name, "unloaded", true);
    pthread_mutex_unlock(&m->loading);
    for (size_t i = 0; i < l.n; i++)
        models_drop(m, l.list[i]);
    return l.n > 0 || err_set(err, ERR_NOT_FOUND, NULL, "no model " STR_FMT " is loaded", STR_ARG(name));
}

/* --- finding --- */

/* Whether it is called so: ret_part is as models_find says. */
static bool called(struct served *s, struct str name, struct served_part **ret_part)
{
    *ret_part = s->n_parts == 1 ? &s->parts[0] : NULL;
    if (str_is(name, s->name))
        return true;
    for (size_t i = 0; s->n_parts > 1 && i < s->n_parts; i++)
        if (str_is(name, s->parts[i].model)) {
            *ret_part = &s->parts[i];
            return true;
        }
    return false;
}

struct served *models_find(struct models *m, struct str name, struct str version,
                           struct served_part **ret_part, struct err *err)
{
    struct served *found = NULL;
    bool other = false;
    pthread_mutex_lock(&m->lock);
    for (size_t i = m->n; i-- > 0 && !found;) {
        struct served_part *part;
        if (!called(m->list[i], name, &part))
            continue;
        other = true;
        if (version.n && !str_is(version, m->list[i]->version))
            continue;
        found = m->list[i];
        *ret_part = part;
        atomic_fetch_add(&found->refs, 1);
    }
    pthread_mutex_unlock(&m->lock);
    if (!found && other)
        err_set(err, ERR_NOT_FOUND, NULL, "the model " STR_FMT " has no version " STR_FMT, STR_ARG(name),
                STR_ARG(version));
    else if (!found)
        err_set(err, ERR_NOT_FOUND, NULL, "there is no model " STR_FMT, STR_ARG(name));
    return found;
}

struct served **models_all(struct models *m, struct arena *a, size_t *ret_n)
{
    pthread_mutex_lock(&m->lock);
    struct served **list = arena_array(a, struct served *, m->n);
    for (size_t i = 0; i < m->n; i++) {
        list[i] = m->list[i];
        atomic_fetch_add(&list[i]->refs, 1);
    }
    *ret_n = m->n;
    pthread_mutex_unlock(&m->lock);
    return list;
}

struct models_entry *models_index(struct models *m, struct arena *a, size_t *ret_n)
{
    size_t n = 0;
    pthread_mutex_lock(&m->lock);
    struct models_entry *list = arena_array(a, struct models_entry, m->n + m->n_sources);
    for (size_t i = 0; i < m->n; i++)
        list[n++] = (struct models_entry){arena_strdup(a, m->list[i]->name),
                                          arena_strdup(a, m->list[i]->version), "READY", ""};
    for (size_t i = 0; i < m->n_sources; i++) {
        const struct source *s = &m->sources[i];
        bool served = false;
        for (size_t k = 0; k < m->n; k++)
            served |= strcmp(m->list[k]->name, s->name) == 0;
        if (!served)
            list[n++] = (struct models_entry){arena_strdup(a, s->name), arena_strdup(a, s->version),
                                              "UNAVAILABLE", arena_strdup(a, s->reason)};
    }
    pthread_mutex_unlock(&m->lock);
    *ret_n = n;
    return list;
}
