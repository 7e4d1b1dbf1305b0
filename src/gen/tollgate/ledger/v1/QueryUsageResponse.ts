// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { UsageRow as _tollgate_ledger_v1_UsageRow, UsageRow__Output as _tollgate_ledger_v1_UsageRow__Output } from '../../../tollgate/ledger/v1/UsageRow.ts';

export interface QueryUsageResponse {
  'rows'?: (_tollgate_ledger_v1_UsageRow)[];
}

export interface QueryUsageResponse__Output {
  'rows': (_tollgate_ledger_v1_UsageRow__Output)[];
}
