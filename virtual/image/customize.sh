# Runs inside mmdebstrap's customize stage, as root of the image's namespace; $1 is the image's tree.
# Adds the kernel and only those of its modules that a machine can use. The kernel is unpacked, never installed.
set -eu
tree="$1"
export APT_CONFIG="$MMDEBSTRAP_APT_CONFIG"

work="$tree/tmp/kernel"
mkdir -p "$work/unpacked"
package=$(apt-cache depends "$ROGUE_KERNEL_PACKAGE" | sed -n 's/^ *Depends: *//p' | head -n 1)
(cd "$work" && apt-get -qq -o APT::Sandbox::User=root download "$package")
dpkg-deb -x "$work"/*.deb "$work/unpacked"

mkdir -p "$tree/boot"
cp "$work"/unpacked/boot/vmlinuz-* "$tree/boot/"
release=$(ls "$work/unpacked/lib/modules")
mkdir -p "$tree/lib/modules/$release/kernel"
cp "$work/unpacked/lib/modules/$release"/modules.builtin* "$work/unpacked/lib/modules/$release"/modules.order \
    "$tree/lib/modules/$release/"
cd "$work/unpacked/lib/modules/$release/kernel"
for path in $ROGUE_MODULE_PATHS; do
    [ ! -e "$path" ] || cp -a --parents "$path" "$tree/lib/modules/$release/kernel/"
done
cd /
rm -rf "$work"
chroot "$tree" busybox find "/lib/modules/$release" -name '*.ko.xz' -exec busybox unxz '{}' ';'
chroot "$tree" depmod "$release"

rm -f "$tree"/etc/ssh/ssh_host_*
printf 'root soft memlock unlimited\nroot hard memlock unlimited\n' >"$tree/etc/security/limits.d/rogue.conf"
