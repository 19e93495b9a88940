#include "db/tables.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *names[TABLES_ALL]; /* in the order of their numbers */
static unsigned known;

unsigned tables_number(const char *name)
{
    unsigned n = 0;
    pthread_mutex_lock(&lock);
    while (n < known && strcmp(names[n], name) != 0)
        n++;
    if (n == known && known < TABLES_ALL)
        names[known++] = base_strdup(name);
    pthread_mutex_unlock(&lock);
    return n;
}
