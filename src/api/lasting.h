/* Answers and sockets that last: streams of events, logs that are followed, terminals, tools, downloads. What
 * lets one begin may end while it goes on: its session, its token, its user, a membership, a role.
 *
 * Each stands in one table with its caller and what the caller needs. Whenever the accounts or the routes of
 * services tell that something changed, the thread of the table looks the caller up anew and asks again; what
 * is not allowed any more is ended. An entry carries the epoch of accounts for which it was asked: a change
 * between the check of a request and lasting_add is seen by lasting_add, so nothing falls in between. */
#ifndef INGOT_API_LASTING_H
#define INGOT_API_LASTING_H

#include "api/route.h"
#include "core/engine.h"

struct lasting_terms {
    const char *permission; /* asked in `project`; NULL: to be signed in is enough. Outlives the request */
    int64_t project;
    /* Asked as well, with the caller looked up anew. May be NULL. */
    bool (*may)(void *ctx, const struct caller *now);
    /* `may` asks for what changes without the accounts (keys and routes of services): it is asked in every
     * round, also for a caller without a user, who is then as empty as before. */
    bool beyond;
    /* Ends it; NULL: request_abort. Both run on the table's thread, under its lock and not after the request
     * is over: they are quick, and lasting_add is not called under a lock that they take. */
    void (*end)(void *ctx);
    /* The request is over, and neither is called any more. May be NULL. */
    void (*over)(void *ctx);
    void *ctx;
    bool uses; /* while it lasts the session is in use */
};

void lasting_start(struct core *core);
/* From any thread, before the request is answered. Does nothing for a caller without a user (but for
 * `beyond`) and for the system. A permission that the caller lacks (the object is public) is not asked for.
 */
void lasting_add(struct request *r, const struct caller *c, const struct lasting_terms *t);
/* The same for what shows an object: its project and the permission to read it. */
void lasting_show(struct api_call *call, const struct object *o);

/* A thread that goes on after the call that began it was answered; the core ends after it. Its name; what it
 * does; its argument, which it frees. */
void lasting_thread(const char *name, void (*fn)(void *), void *arg);
/* The server ends: return soon. What belongs to a connection finds that one closed as well. */
bool lasting_ending(void);
/* Waits for all threads, after the listeners were closed. A call that still runs does then itself what it
 * begins. */
void lasting_stop(void);

#endif
