/* The record commands as a program, for tests. */
#include "record/record_cli.h"

int main(int argc, char **argv)
{
    return record_cli(argc, argv);
}
