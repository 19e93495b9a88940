#include "cli/interrupt.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>

static volatile sig_atomic_t noted;

static void note(int number)
{
    noted = number;
}

void interrupt_watch(void)
{
    struct sigaction act = {.sa_handler = note, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
}

bool interrupt_wanted(void)
{
    return noted != 0;
}

bool interrupt_sleep(unsigned milliseconds)
{
    struct timespec t = {.tv_sec = milliseconds / 1000, .tv_nsec = (long)(milliseconds % 1000) * 1000000};
    if (!noted)
        nanosleep(&t, NULL);
    return !noted;
}

void interrupt_end(void)
{
    if (!noted)
        return;
    int number = noted;
    fflush(stdout);
    signal(number, SIG_DFL);
    raise(number);
}
