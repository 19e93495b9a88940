#include "exec/shim/shim.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(int argc, char **argv);
    } modes[] = {{"init", shim_init}, {"attach", shim_attach}, {"enter", shim_enter}};
    if (argc < 2)
        return 2;
    if (strcmp(argv[1], "supervise") == 0)
        return shim_supervise();
    if (strcmp(argv[1], "probe") == 0)
        return shim_probe();
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        if (strcmp(argv[1], modes[i].name) == 0)
            return modes[i].run(argc - 1, argv + 1);
    }
    return 2;
}
