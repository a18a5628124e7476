// The worker's main, which stands in the place of that of the program it is loaded into.
#pragma once

namespace bulkhead {

// Its arguments are main's; it does not return while there is a host.
int worker_main(int argc, char** argv, char** environment);

}  // namespace bulkhead
