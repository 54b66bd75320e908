// The precompiled header of the tests with torch.
#pragma once

#include "torch_pch.h"
// after torch's, some of whose names are macros of its own logging
#include "test_pch.h"
