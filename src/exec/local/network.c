/* One bridge NAMEbSLOT per project, with a /22 of the subnet. Bridges never see each other nor this machine:
 * the table below drops it, the machine has no address on them (unless egress needs a gateway), and nothing
 * inside may change addresses or routes. */
#include "exec/local/own.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/proc.h"
#include "exec/local/netlink.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>

#define SIZE (1u << (32 - NETWORK_PREFIX))
#define METADATA                                                                                             \
    "169.254.0.0/16, 100.100.100.200, 168.63.129.16" /* where clouds tell machines their secrets */
#define BRIDGE_KEEP 10 /* sweeps, one a second, that a bridge without containers stays */

unsigned network_slot(const struct local *l, uint32_t address)
{
    return (address - l->subnet) / SIZE;
}

void network_bridge_name(const struct local *l, unsigned slot, char ret[16])
{
    snprintf(ret, 16, "%sb%u", l->name, slot);
}

void network_text(uint32_t address, char ret[16])
{
    snprintf(ret, 16, "%u.%u.%u.%u", address >> 24, address >> 16 & 255, address >> 8 & 255, address & 255);
}

static void write_rules(struct local *l, struct buf *b)
{
    const char *n = l->name;
    char subnet[16];
    network_text(l->subnet, subnet);
    buf_printf(b, "table inet %s\ndelete table inet %s\ntable inet %s {\n", n, n, n);
    buf_printf(b, " chain input {\n  type filter hook input priority 0; policy accept;\n");
    buf_printf(b, "  iifname \"%sb*\" ct state established,related accept\n  iifname \"%sb*\" drop\n }\n", n,
               n);
    buf_printf(b, " chain forward {\n  type filter hook forward priority 0; policy accept;\n");
    /* Inside one bridge; packets come by here only when the machine filters bridged ones too. */
    buf_printf(b, "  iifname . oifname {");
    for (unsigned i = 0; i < NETWORK_SLOTS; i++)
        buf_printf(b, "%s \"%sb%u\" . \"%sb%u\"", i ? "," : "", n, i, n, i);
    buf_printf(b, " } accept\n  iifname \"%sb*\" oifname \"%sb*\" drop\n", n, n);
    buf_printf(b, "  oifname \"%sb*\" ct state established,related accept\n  oifname \"%sb*\" drop\n", n, n);
    if (l->egress)
        buf_printf(b, "  iifname \"%sb*\" ip daddr != { " METADATA " } accept\n", n);
    buf_printf(b, "  iifname \"%sb*\" drop\n }\n", n);
    if (l->egress)
        buf_printf(b,
                   " chain leave {\n  type nat hook postrouting priority 100;\n"
                   "  ip saddr %s/14 oifname != \"%sb*\" masquerade\n }\n",
                   subnet, n);
    buf_printf(b, "}\n");
}

static bool allow_forwarding(struct err *err)
{
    auto_fd int fd = open("/proc/sys/net/ipv4/ip_forward", O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, "1\n", 2) != 2)
        return err_errno(err, errno, "cannot switch on IP forwarding");
    return true;
}

static bool load_rules(struct local *l, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    auto_buf struct buf text = {0};
    write_rules(l, &text);
    char *path = arena_printf(&a, "%s/.nft", l->dir);
    auto_fd int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_errno(err, errno, "cannot write %s", path);
    if (!fs_write_all(fd, text.p, text.n, err))
        return false;
    char *argv[] = {"nft", "-f", path, NULL};
    int status;
    struct str output;
    if (!proc_run(&a, argv, 4096, &status, &output, err))
        return false;
    if (status != 0)
        return err_set(err, ERR_UNAVAILABLE, NULL, "nft refused the rules: " STR_FMT,
                       STR_ARG(str_trim(output)));
    return !l->egress || allow_forwarding(err);
}

bool network_start(struct local *l, struct err *err)
{
    char bridge[16];
    network_bridge_name(l, NETWORK_SLOTS, bridge); /* one that is never used */
    int failed = netlink_bridge(bridge);
    if (failed)
        return err_errno(err, failed, "cannot make a bridge");
    netlink_delete(bridge);
    for (unsigned i = 0; i < NETWORK_SLOTS; i++) { /* of an earlier process */
        network_bridge_name(l, i, bridge);
        l->bridges[i] = if_nametoindex(bridge) != 0;
    }
    if (load_rules(l, err))
        return true;
    if (!l->egress)
        return false;
    /* A kernel without address translation: the projects' own networks work all the same. */
    snprintf(l->network_reason, sizeof l->network_reason, "no connections to the outside: %.200s",
             err->message);
    l->egress = false;
    return load_rules(l, err);
}

static struct lease *find(struct local *l, struct exec_id id)
{
    for (struct lease *i = l->leases; i; i = i->next) {
        if (exec_id_equal(i->id, id))
            return i;
    }
    return NULL;
}

bool network_keep(struct local *l, const struct lease *lease)
{
    if (find(l, lease->id))
        return false;
    struct lease *own = base_alloc(sizeof *own);
    *own = *lease;
    own->next = l->leases;
    l->leases = own;
    return true;
}

static bool pick_slot(struct local *l, int64_t project, unsigned *ret, struct err *err)
{
    bool used[NETWORK_SLOTS] = {0};
    for (struct lease *i = l->leases; i; i = i->next) {
        unsigned slot = network_slot(l, i->address);
        if (i->project == project) {
            *ret = slot;
            return true;
        }
        if (slot < NETWORK_SLOTS)
            used[slot] = true;
    }
    for (unsigned i = 0; i < NETWORK_SLOTS; i++) {
        if (!used[i]) {
            *ret = i;
            return true;
        }
    }
    return err_set(err, ERR_UNAVAILABLE, NULL,
                   "%d projects have containers on this machine; there is no network left", NETWORK_SLOTS);
}

static struct lease *add(struct local *l, struct exec_id id, int64_t project, unsigned slot, struct err *err)
{
    bool used[SIZE] = {0};
    struct lease *had = find(l, id);
    if (had)
        return had;
    uint32_t first = l->subnet + slot * SIZE;
    for (struct lease *i = l->leases; i; i = i->next) {
        if (network_slot(l, i->address) == slot)
            used[i->address - first] = true;
    }
    for (uint32_t i = 2; i < SIZE - 1; i++) {
        if (used[i])
            continue;
        struct lease fresh = {.id = id, .project = project, .address = first + i};
        network_keep(l, &fresh);
        return find(l, id);
    }
    err_set(err, ERR_UNAVAILABLE, NULL,
            "the project has %u containers on this machine; there is no address left", SIZE - 3);
    return NULL;
}

static bool make_bridge(struct local *l, unsigned slot, struct err *err)
{
    char bridge[16], path[96];
    network_bridge_name(l, slot, bridge);
    if (l->bridges[slot] && if_nametoindex(bridge) != 0)
        return true;
    int failed = netlink_bridge(bridge);
    if (!failed && l->egress)
        failed = netlink_address(bridge, htonl(l->subnet + slot * SIZE + 1), NETWORK_PREFIX);
    if (failed)
        return err_errno(err, failed, "cannot make bridge %s", bridge);
    snprintf(path, sizeof path, "/proc/sys/net/ipv6/conf/%s/disable_ipv6", bridge);
    auto_fd int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd >= 0 && write(fd, "1\n", 2) != 2)
        return err_errno(err, errno, "cannot switch off IPv6 on bridge %s", bridge);
    l->bridges[slot] = 1;
    return true;
}

bool network_lease(struct local *l, const struct exec_spec *spec, struct arena *a, struct lease **ret,
                   size_t *ret_n, struct err *err)
{
    if (spec->network == 0 || !l->network) {
        if (spec->n_peers > 1)
            return err_set(err, ERR_UNAVAILABLE, "network", "a job of several nodes needs a network%s%s",
                           l->network ? "" : ": ", l->network_reason);
        *ret_n = 0;
        return true;
    }
    unsigned slot;
    if (!pick_slot(l, spec->network, &slot, err))
        return false;
    struct lease *list = arena_array(a, struct lease, spec->n_peers + 1);
    size_t n = 0;
    for (size_t i = 0; i <= spec->n_peers; i++) {
        struct exec_id id = i == spec->n_peers ? spec->id : spec->peers[i].id;
        if (i == spec->n_peers && n > 0) {
            bool listed = false;
            for (size_t k = 0; k < n; k++)
                listed = listed || exec_id_equal(list[k].id, id);
            if (listed)
                break;
        }
        struct lease *got = add(l, id, spec->network, slot, err);
        if (!got)
            return false;
        list[n++] = *got;
    }
    if (!make_bridge(l, slot, err))
        return false;
    *ret = list;
    *ret_n = n;
    return true;
}

void network_drop(struct local *l, struct exec_id id)
{
    struct lease **at = &l->leases;
    while (*at && !exec_id_equal((*at)->id, id))
        at = &(*at)->next;
    struct lease *gone = *at;
    if (gone)
        *at = gone->next;
    free(gone);
}

void network_give(struct local *l, struct exec_id from, struct exec_id to)
{
    struct lease *lease = find(l, from);
    if (lease)
        lease->id = to;
}

void network_sweep(struct local *l)
{
    bool used[NETWORK_SLOTS] = {0};
    for (struct lease *i = l->leases; i; i = i->next) {
        unsigned slot = network_slot(l, i->address);
        if (slot < NETWORK_SLOTS)
            used[slot] = true;
    }
    for (unsigned i = 0; i < NETWORK_SLOTS; i++) {
        char bridge[16];
        if (used[i] && l->bridges[i])
            l->bridges[i] = 1;
        if (used[i] || !l->bridges[i] || l->bridges[i]++ < BRIDGE_KEEP)
            continue;
        l->bridges[i] = 0;
        network_bridge_name(l, i, bridge);
        netlink_delete(bridge);
    }
}

void network_end(struct local *l)
{
    auto_arena struct arena a;
    arena_init(&a);
    for (unsigned i = 0; i < NETWORK_SLOTS; i++) {
        char bridge[16];
        network_bridge_name(l, i, bridge);
        if (l->bridges[i])
            netlink_delete(bridge);
    }
    char *argv[] = {"nft", "delete", "table", "inet", l->name, NULL};
    int status;
    if (l->network)
        proc_run(&a, argv, 4096, &status, NULL, NULL);
}
