# Installs a runtime's packages, inside of its container, without network: their maintainer scripts run here.
set -eu
here=/run/ingot-runtime
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive DEBCONF_NONINTERACTIVE_SEEN=true
cd "$here/debs"
[ -e /etc/passwd ] || cp /usr/share/base-passwd/passwd.master /etc/passwd
[ -e /etc/group ] || cp /usr/share/base-passwd/group.master /etc/group
echo "configuring the $(wc -l <"$here/seed") packages of the base"
xargs dpkg --force-depends --install <"$here/seed"
if [ -s "$here/rest" ]; then
    echo "installing $(wc -l <"$here/rest") packages"
    xargs dpkg --force-depends --unpack <"$here/rest"
fi
dpkg --configure --pending
problems=$(dpkg --audit)
[ -z "$problems" ] || {
    echo "$problems"
    exit 1
}
if [ -s "$here/python" ]; then
    echo "installing $(wc -l <"$here/python") Python packages"
    xargs python3 -m pip install --no-index --no-deps --break-system-packages --root-user-action ignore --no-cache-dir --disable-pip-version-check <"$here/python"
    python3 -m pip check || echo 'the packages do not agree wholly with each other, as pip says above'
fi
rm -f /usr/sbin/policy-rc.d /etc/dpkg/dpkg.cfg.d/ingot
rm -rf /var/cache/debconf/*-old /var/lib/dpkg/*-old /var/log/dpkg.log /var/log/alternatives.log /var/log/apt /tmp/* /root/.cache
echo 'installed'
