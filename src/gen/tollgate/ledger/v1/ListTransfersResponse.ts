// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { Transfer as _tollgate_ledger_v1_Transfer, Transfer__Output as _tollgate_ledger_v1_Transfer__Output } from '../../../tollgate/ledger/v1/Transfer.ts';

export interface ListTransfersResponse {
  'transfers'?: (_tollgate_ledger_v1_Transfer)[];
  'nextPageToken'?: (string);
}

export interface ListTransfersResponse__Output {
  'transfers': (_tollgate_ledger_v1_Transfer__Output)[];
  'nextPageToken': (string);
}
