#include "cli/infer.h"

#include "base/arena.h"
#include "base/err.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

#define PROGRAM "ingot-infer"

/* The folder that this program is in; that of installed ones has both. */
static bool beside(struct arena *a, const char **ret)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self);
    const char *slash = n > 0 ? memrchr(self, '/', (size_t)n) : NULL;
    if (!slash)
        return false;
    *ret = arena_printf(a, "%.*s/" PROGRAM, (int)(slash - self), self);
    return access(*ret, X_OK) == 0;
}

int infer_main(unused_ok int argc, char **argv)
{
    auto_arena struct arena a;
    const char *path;
    arena_init(&a);
    argv[0] = PROGRAM;
    if (beside(&a, &path))
        execv(path, argv);
    else
        execvp(PROGRAM, argv);
    fprintf(stderr, "ingot infer: " PROGRAM " is not beside this program and cannot be started: %s\n",
            strerror(errno));
    return err_info(ERR_NOT_FOUND)->exit_code;
}
