#include "exec/local/netlink.h"

#include <errno.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct request {
    struct nlmsghdr head;
    char body[1024];
};

static void *reserve(struct request *q, size_t n)
{
    void *p = (char *)q + q->head.nlmsg_len;
    q->head.nlmsg_len += NLMSG_ALIGN((unsigned)n);
    return p;
}

static void begin(struct request *q, uint16_t type, uint16_t flags, const void *head, size_t n)
{
    memset(q, 0, sizeof *q);
    q->head.nlmsg_len = NLMSG_LENGTH(0);
    q->head.nlmsg_type = type;
    q->head.nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags);
    memcpy(reserve(q, n), head, n);
}

static struct rtattr *attribute(struct request *q, uint16_t type, const void *p, size_t n)
{
    struct rtattr *a = reserve(q, RTA_LENGTH(n));
    a->rta_type = type;
    a->rta_len = (uint16_t)RTA_LENGTH(n);
    if (n > 0)
        memcpy(RTA_DATA(a), p, n);
    return a;
}

static void text(struct request *q, uint16_t type, const char *z)
{
    attribute(q, type, z, strlen(z) + 1);
}

static void nest_end(struct request *q, struct rtattr *a)
{
    a->rta_len = (uint16_t)((char *)q + q->head.nlmsg_len - (char *)a);
}

static int ask(struct request *q)
{
    struct {
        struct nlmsghdr head;
        struct nlmsgerr error;
        char rest[1024];
    } answer;
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd < 0)
        return errno;
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    int failed = 0;
    if (sendto(fd, q, q->head.nlmsg_len, 0, (struct sockaddr *)&kernel, sizeof kernel) < 0 ||
        recv(fd, &answer, sizeof answer, 0) < (ssize_t)NLMSG_LENGTH(sizeof answer.error))
        failed = errno ? errno : EIO;
    else if (answer.head.nlmsg_type == NLMSG_ERROR)
        failed = -answer.error.error;
    close(fd);
    return failed;
}

int netlink_up(const char *name)
{
    struct ifinfomsg link = {.ifi_flags = IFF_UP, .ifi_change = IFF_UP};
    struct request q;
    begin(&q, RTM_NEWLINK, 0, &link, sizeof link);
    text(&q, IFLA_IFNAME, name);
    return ask(&q);
}

int netlink_bridge(const char *name)
{
    struct ifinfomsg link = {.ifi_flags = IFF_UP, .ifi_change = IFF_UP};
    struct request q;
    begin(&q, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &link, sizeof link);
    text(&q, IFLA_IFNAME, name);
    struct rtattr *info = attribute(&q, IFLA_LINKINFO, NULL, 0);
    text(&q, IFLA_INFO_KIND, "bridge");
    nest_end(&q, info);
    int failed = ask(&q);
    return failed == EEXIST ? netlink_up(name) : failed;
}

/* Without a link-local address: browsers on this machine take each that comes or goes for another network,
 * and give up what they are loading. A kernel without IPv6 gives none. */
static void plain_link(const char *name)
{
    struct ifinfomsg link = {0};
    struct request q;
    uint8_t mode = IN6_ADDR_GEN_MODE_NONE;
    begin(&q, RTM_NEWLINK, 0, &link, sizeof link);
    text(&q, IFLA_IFNAME, name);
    struct rtattr *families = attribute(&q, IFLA_AF_SPEC, NULL, 0);
    struct rtattr *family = attribute(&q, AF_INET6, NULL, 0);
    attribute(&q, IFLA_INET6_ADDR_GEN_MODE, &mode, sizeof mode);
    nest_end(&q, family);
    nest_end(&q, families);
    ask(&q);
}

int netlink_veth(const char *name, const char *bridge, const char *peer, int peer_netns)
{
    struct ifinfomsg link = {0}, other = {0};
    unsigned master = if_nametoindex(bridge);
    if (master == 0)
        return errno;
    struct request q;
    begin(&q, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &link, sizeof link);
    text(&q, IFLA_IFNAME, name);
    attribute(&q, IFLA_MASTER, &master, sizeof master);
    struct rtattr *info = attribute(&q, IFLA_LINKINFO, NULL, 0);
    text(&q, IFLA_INFO_KIND, "veth");
    struct rtattr *data = attribute(&q, IFLA_INFO_DATA, NULL, 0);
    struct rtattr *end = attribute(&q, VETH_INFO_PEER, NULL, 0);
    memcpy(reserve(&q, sizeof other), &other, sizeof other);
    text(&q, IFLA_IFNAME, peer);
    attribute(&q, IFLA_NET_NS_FD, &peer_netns, sizeof peer_netns);
    nest_end(&q, end);
    nest_end(&q, data);
    nest_end(&q, info);
    int failed = ask(&q);
    if (failed)
        return failed;
    plain_link(name);
    return netlink_up(name);
}

int netlink_address(const char *name, uint32_t address, unsigned prefix)
{
    struct ifaddrmsg m = {.ifa_family = AF_INET, .ifa_prefixlen = (uint8_t)prefix};
    m.ifa_index = if_nametoindex(name);
    if (m.ifa_index == 0)
        return errno;
    struct request q;
    begin(&q, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &m, sizeof m);
    attribute(&q, IFA_LOCAL, &address, sizeof address);
    attribute(&q, IFA_ADDRESS, &address, sizeof address);
    int failed = ask(&q);
    return failed == EEXIST ? 0 : failed;
}

int netlink_default_route(uint32_t gateway)
{
    struct rtmsg m = {.rtm_family = AF_INET,
                      .rtm_table = RT_TABLE_MAIN,
                      .rtm_protocol = RTPROT_STATIC,
                      .rtm_type = RTN_UNICAST};
    struct request q;
    begin(&q, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, &m, sizeof m);
    attribute(&q, RTA_GATEWAY, &gateway, sizeof gateway);
    return ask(&q);
}

int netlink_delete(const char *name)
{
    struct ifinfomsg link = {0};
    struct request q;
    begin(&q, RTM_DELLINK, 0, &link, sizeof link);
    text(&q, IFLA_IFNAME, name);
    int failed = ask(&q);
    return failed == ENODEV ? 0 : failed;
}
