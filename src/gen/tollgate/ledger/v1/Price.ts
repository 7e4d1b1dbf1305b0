// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { UnitPrice as _tollgate_ledger_v1_UnitPrice, UnitPrice__Output as _tollgate_ledger_v1_UnitPrice__Output } from '../../../tollgate/ledger/v1/UnitPrice.ts';
import type { Long } from '@grpc/proto-loader';

export interface Price {
  'inputPicos'?: (number | string | Long);
  'outputPicos'?: (number | string | Long);
  'cachedInputPicos'?: (number | string | Long);
  'cacheWritePicos'?: (number | string | Long);
  'cacheWriteHourPicos'?: (number | string | Long);
  'unit'?: (_tollgate_ledger_v1_UnitPrice | null);
}

export interface Price__Output {
  'inputPicos': (Long);
  'outputPicos': (Long);
  'cachedInputPicos': (Long);
  'cacheWritePicos': (Long);
  'cacheWriteHourPicos': (Long);
  'unit': (_tollgate_ledger_v1_UnitPrice__Output | null);
}
