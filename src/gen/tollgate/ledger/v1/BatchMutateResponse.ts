// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { MutationResult as _tollgate_ledger_v1_MutationResult, MutationResult__Output as _tollgate_ledger_v1_MutationResult__Output } from '../../../tollgate/ledger/v1/MutationResult.ts';

export interface BatchMutateResponse {
  'results'?: (_tollgate_ledger_v1_MutationResult)[];
}

export interface BatchMutateResponse__Output {
  'results': (_tollgate_ledger_v1_MutationResult__Output)[];
}
