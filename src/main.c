#include "cli/serve.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    if (argc >= 2 && strcmp(argv[1], "serve") == 0)
        return serve_main(argc - 1, argv + 1);
    fputs("usage: ingot serve [options]\n", stderr);
    return 2;
}
