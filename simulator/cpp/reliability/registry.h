// Ways of RDMA's NICs to repair losses other than the usual go-back-N. A new one is a header and its name here.
#pragma once

#include <array>

#include "reliability/go_back_n.h"
#include "reliability/irn.h"
#include "reliability/uet.h"

namespace simulator {

inline constexpr std::array kRepairs = {
    kIrn, kIrnGbn, kGoBackN, kGoBack0, kGoBackNHpcc, kGoBackNConweave, kGoBackNHtsim, kUet, kUetRccc};

}  // namespace simulator
