/* How a container's log lies on disk (the records are described in exec.h). The folder log/ has files named
 * OFFSET-LINE, 16 hex digits each: the records from that offset on, the first of which is that line. `index`
 * holds the offset of every LOGS_INDEX_EVERY-th line as a 64-bit number in the machine's order. */
#ifndef INGOT_EXEC_LOCAL_LOGS_H
#define INGOT_EXEC_LOCAL_LOGS_H

#define LOGS_INDEX_EVERY 1024
#define LOGS_NAME_MAX    40

#endif
