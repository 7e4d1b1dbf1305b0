// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { RunningHold as _tollgate_ledger_v1_RunningHold, RunningHold__Output as _tollgate_ledger_v1_RunningHold__Output } from '../../../tollgate/ledger/v1/RunningHold.ts';

export interface ListRunningHoldsResponse {
  'holds'?: (_tollgate_ledger_v1_RunningHold)[];
  'nextPageToken'?: (string);
}

export interface ListRunningHoldsResponse__Output {
  'holds': (_tollgate_ledger_v1_RunningHold__Output)[];
  'nextPageToken': (string);
}
