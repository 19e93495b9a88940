#include "base/lazy.h"

#include <dlfcn.h>
#include <stdio.h>

static void must(const void *p, const char *what)
{
    if (p)
        return;
    fprintf(stderr, "ingot: loading %s: %s\n", what, dlerror());
    abort();
}

void *lazy_find(struct lazy_library *l, size_t i)
{
    void *handle = __atomic_load_n(&l->handle, __ATOMIC_ACQUIRE);
    if (!handle) {
        handle = dlopen(l->soname, RTLD_LAZY | RTLD_LOCAL); /* twice gives the same */
        must(handle, l->soname);
        __atomic_store_n(&l->handle, handle, __ATOMIC_RELEASE);
    }
    void *found = dlsym(handle, l->names[i]);
    must(found, l->names[i]);
    __atomic_store_n(&l->slots[i], found, __ATOMIC_RELEASE);
    return found;
}
