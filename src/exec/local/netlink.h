/* The few rtnetlink requests containers need, in the calling thread's network namespace. libc only: the shim
 * links it too. Each returns 0 or an errno. Addresses are in network order. */
#ifndef INGOT_EXEC_LOCAL_NETLINK_H
#define INGOT_EXEC_LOCAL_NETLINK_H

#include <stdint.h>

int netlink_bridge(const char *name); /* creates it when absent, and brings it up */
/* A pair: `name` here and up, joined to the bridge; `peer` in the other network namespace. */
int netlink_veth(const char *name, const char *bridge, const char *peer, int peer_netns);
int netlink_up(const char *name);
int netlink_address(const char *name, uint32_t address, unsigned prefix); /* having it already is fine */
int netlink_default_route(uint32_t gateway);
int netlink_delete(const char *name);

#endif
