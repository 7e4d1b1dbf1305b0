// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { TransferTotal as _tollgate_ledger_v1_TransferTotal, TransferTotal__Output as _tollgate_ledger_v1_TransferTotal__Output } from '../../../tollgate/ledger/v1/TransferTotal.ts';

export interface SumTransfersByScopeResponse {
  'totals'?: (_tollgate_ledger_v1_TransferTotal)[];
}

export interface SumTransfersByScopeResponse__Output {
  'totals': (_tollgate_ledger_v1_TransferTotal__Output)[];
}
