// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { Mutation as _tollgate_ledger_v1_Mutation, Mutation__Output as _tollgate_ledger_v1_Mutation__Output } from '../../../tollgate/ledger/v1/Mutation.ts';
import type { Long } from '@grpc/proto-loader';

export interface StreamMutationsRequest {
  'sequence'?: (number | string | Long);
  'mutations'?: (_tollgate_ledger_v1_Mutation)[];
}

export interface StreamMutationsRequest__Output {
  'sequence': (Long);
  'mutations': (_tollgate_ledger_v1_Mutation__Output)[];
}
