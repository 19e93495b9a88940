/* Shared libraries that are loaded when one of their functions is called for the first time. The functions
 * that stand in for them are made by scripts/lazy.py at build time; only these call this. Ends the program
 * when the library or the function is missing, as the loader would have done at the start. */
#ifndef INGOT_BASE_LAZY_H
#define INGOT_BASE_LAZY_H

#include "base/base.h"

struct lazy_library {
    const char *soname;
    void *handle; /* atomic; NULL: not loaded yet */
    const char *const *names;
    void **slots; /* atomic; where the function of that name is called by way of */
};

/* The address of function i of the library, which is in its slot from now on. From any thread. */
void *lazy_find(struct lazy_library *l, size_t i);

#endif
