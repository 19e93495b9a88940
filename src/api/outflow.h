/* A long answer written by a pool thread that may wait: archives, exports, reports. The thread is slowed down
 * to what the client takes. */
#ifndef INGOT_API_OUTFLOW_H
#define INGOT_API_OUTFLOW_H

#include "net/http.h"

struct outflow;
/* Begins the answer. */
struct outflow *outflow_begin(struct request *r, int status, const struct header *headers, size_t n);
/* The same for a length that is known. */
struct outflow *outflow_begin_sized(struct request *r, int status, const struct header *headers, size_t n,
                                    uint64_t length);
/* Copies data; waits while much is on its way. false when the client went away: stop, then outflow_end. */
bool outflow_write(struct outflow *f, struct str data);
/* complete false breaks the connection off, so that the client does not take a part for the whole. Frees f.
 */
void outflow_end(struct outflow *f, bool complete);

#endif
