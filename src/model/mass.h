// Mass points that represent the masses of a draft's links.
#pragma once

#include "model/draft.h"
#include "model/points.h"

// Adds mass points to a draft with contact points, for links with these mass properties (one per
// draft link, in its frame). MF_NO_MEMORY in draft->error. Parents come before children, and joint
// i moves link i + 1.
mf_Status mf_draft_place_mass(mf_Draft *draft, const mf_MassProperties *bodies);
