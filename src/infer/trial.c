#include "infer/trial.h"

#include "base/hash.h"

#include <pthread.h>

struct trial {
    struct models *models;
    const char *name, *path, *version;
    struct served_options o;
    pthread_mutex_t lock;     /* of what follows; held while loading, which takes the memory of a model */
    struct served *last;      /* with a reference of ours; NULL: none */
    uint8_t key[SHA256_SIZE]; /* of its manifest */
    bool own;                 /* it is the folder's: there is no key */
};

struct trial *trial_new(struct models *models, const char *name, const char *path, const char *version,
                        const struct served_options *o)
{
    struct trial *t = base_zalloc(sizeof *t);
    *t = (struct trial){.models = models, .name = name, .path = path, .version = version, .o = *o};
    pthread_mutex_init(&t->lock, NULL);
    return t;
}

void trial_free(struct trial *t)
{
    if (!t)
        return;
    models_drop(t->models, t->last);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

static bool is_last(const struct trial *t, bool own, const uint8_t key[SHA256_SIZE])
{
    return t->last && t->own == own && (own || memcmp(t->key, key, SHA256_SIZE) == 0);
}

/* The one before goes first: two large models at once may be more than there is memory for. */
static bool load(struct trial *t, struct str manifest, const uint8_t key[SHA256_SIZE], struct err *err)
{
    models_drop(t->models, t->last);
    t->last = manifest.p ? served_load_as(t->name, t->version, t->path, manifest, &t->o, err)
                         : served_load(t->name, t->version, t->path, &t->o, err);
    t->own = !manifest.p;
    memcpy(t->key, key, SHA256_SIZE);
    return t->last != NULL;
}

struct served *trial_find(struct trial *t, struct str name, struct str manifest, struct err *err)
{
    uint8_t key[SHA256_SIZE] = {0};
    struct served *found = NULL;
    if (!str_is(name, t->name)) {
        err_set(err, ERR_NOT_FOUND, NULL, "there is no model " STR_FMT, STR_ARG(name));
        return NULL;
    }
    if (manifest.p)
        sha256_of(manifest, key);
    pthread_mutex_lock(&t->lock);
    if (is_last(t, !manifest.p, key) || load(t, manifest, key, err)) {
        found = t->last;
        atomic_fetch_add(&found->refs, 1);
    }
    pthread_mutex_unlock(&t->lock);
    return found;
}
