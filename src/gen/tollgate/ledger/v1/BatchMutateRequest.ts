// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { Mutation as _tollgate_ledger_v1_Mutation, Mutation__Output as _tollgate_ledger_v1_Mutation__Output } from '../../../tollgate/ledger/v1/Mutation.ts';

export interface BatchMutateRequest {
  'mutations'?: (_tollgate_ledger_v1_Mutation)[];
}

export interface BatchMutateRequest__Output {
  'mutations': (_tollgate_ledger_v1_Mutation__Output)[];
}
