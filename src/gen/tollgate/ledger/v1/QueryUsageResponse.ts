// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { UsageRow as _tollgate_ledger_v1_UsageRow, UsageRow__Output as _tollgate_ledger_v1_UsageRow__Output } from '../../../tollgate/ledger/v1/UsageRow.ts';
import type { UsageResolution as _tollgate_ledger_v1_UsageResolution, UsageResolution__Output as _tollgate_ledger_v1_UsageResolution__Output } from '../../../tollgate/ledger/v1/UsageResolution.ts';

export interface QueryUsageResponse {
  'rows'?: (_tollgate_ledger_v1_UsageRow)[];
  'resolution'?: (_tollgate_ledger_v1_UsageResolution);
  'offsetHours'?: (number);
}

export interface QueryUsageResponse__Output {
  'rows': (_tollgate_ledger_v1_UsageRow__Output)[];
  'resolution': (_tollgate_ledger_v1_UsageResolution__Output);
  'offsetHours': (number);
}
