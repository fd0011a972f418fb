# Lets skillfold create user namespaces, in which it runs scripts of skills. It restricts nothing else.
abi <abi/4.0>,
include <tunables/global>

profile skillfold "/usr/bin/skillfold" flags=(unconfined) {
  userns,
}
