#include "core/account/accounts.h"

#include "core/account/provider.h"
#include "core/account/role.h"
#include "core/account/state.h"

#include <errno.h>
#include <time.h>

static void *keep(void *arg)
{
    struct accounts *acc = arg;
    pthread_mutex_lock(&acc->thread_lock);
    while (!acc->ending) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 60;
        int rc = 0;
        while (!acc->ending && !acc->soon && rc != ETIMEDOUT)
            rc = pthread_cond_timedwait(&acc->wake, &acc->thread_lock, &until);
        acc->soon = false;
        pthread_mutex_unlock(&acc->thread_lock);
        credentials_store(acc, false);
        pthread_mutex_lock(&acc->thread_lock);
    }
    pthread_mutex_unlock(&acc->thread_lock);
    return NULL;
}

struct accounts *accounts_new(struct core *core, const char *config, struct err *err)
{
    struct providers *providers = providers_load(config, err);
    if (!providers)
        return NULL;
    if (!role_make_built_in(core, err)) {
        providers_free(providers);
        return NULL;
    }
    struct accounts *acc = base_zalloc(sizeof *acc);
    acc->core = core;
    acc->providers = providers;
    acc->credentials = map_new();
    acc->failures = failures_new();
    pthread_rwlock_init(&acc->lock, NULL);
    pthread_mutex_init(&acc->thread_lock, NULL);
    pthread_cond_init(&acc->wake, NULL);
    acc->thread = thread_start("accounts", keep, acc);
    return acc;
}

void accounts_free(struct accounts *acc)
{
    if (!acc)
        return;
    pthread_mutex_lock(&acc->thread_lock);
    acc->ending = true;
    pthread_cond_signal(&acc->wake);
    pthread_mutex_unlock(&acc->thread_lock);
    pthread_join(acc->thread, NULL);
    credentials_store(acc, true);
    credentials_drop(acc);
    failures_free(acc->failures);
    providers_free(acc->providers);
    pthread_rwlock_destroy(&acc->lock);
    pthread_mutex_destroy(&acc->thread_lock);
    pthread_cond_destroy(&acc->wake);
    free(acc);
}
